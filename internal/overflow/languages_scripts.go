package overflow

import "strings"

// Languages with letters of their own. A word in such letters is in no other dictionary, so each script has its own.

// scriptRole looks a word up in the dictionary of the script of its first letter.
func scriptRole(w string) role {
	switch w[0] {
	case 0xce, 0xcf:
		return greekRole(w)
	case 0xd7:
		return hebrewRole(w)
	case 0xd8, 0xd9, 0xda, 0xdb:
		return arabicRole(w)
	case 0xe0:
		return hindiRole(w)
	}
	return 0
}

// roleBeside returns the role of the word at i if the words beside it give it another role than its dictionary.
func roleBeside(ts []token, i int) role {
	switch ts[i].s {
	case "حد": // Persian says "more than the limit long"
		if wordBefore(ts, i) == "از" && i > 1 && wordBefore(ts, i-1) == "بیش" {
			return rToo
		}
	case "cảnh": // "ngữ cảnh" is the context, "cảnh báo" a warning
		if wordBefore(ts, i) != "ngữ" {
			return 0
		}
	case "अधिक": // "more information"
		if wordAt(ts, i+1) == "जानकारी" {
			return 0
		}
	case "بیشتر":
		if wordBefore(ts, i) == "اطلاعات" {
			return 0
		}
	}
	return ts[i].role
}

func greekRole(w string) role {
	switch w {
	case "είσοδος", "εισόδου", "είσοδό", "μήνυμα", "μηνύματα", "μηνύματος", "προτροπή", "προτροπής", "συνομιλία",
		"συνομιλίας", "ερώτημα":
		return rInput
	case "έξοδος", "εξόδου", "απάντηση", "απάντησης":
		return rOutput
	case "εικόνα", "εικόνας", "αρχείο", "αρχείου":
		return rMedia
	case "αίτημα", "αίτημά", "αιτήματα", "αιτήματος", "αιτημάτων":
		return rRequest
	case "διακριτικά", "διακριτικών":
		return rToken
	case "πλαίσιο", "πλαισίου", "συμφραζόμενα", "συμφραζομένων":
		return rContext
	case "παράθυρο", "παραθύρου", "μέγεθος", "μεγέθους":
		return rCapacity
	case "μήκος", "μήκους":
		return rCapacity | rLength
	case "αριθμός", "πλήθος":
		return rLength
	case "όριο", "ορίου", "όρια":
		return rCapacity | rMax
	case "μέγιστο", "μέγιστος", "μέγιστη", "μέγιστου", "επιτρεπόμενο":
		return rMax
	case "υπερβαίνει", "υπερβαίνουν", "υπερέβη", "ξεπερνά", "ξεπερνάει", "ξεπερνούν", "υπέρβαση":
		return rOver
	case "πολύ", "υπερβολικά", "πάρα":
		return rToo
	case "μεγάλη", "μεγάλο", "μεγάλος", "μεγάλα", "μακρύ", "μακρά", "πολλά", "πολλές":
		return rBig
	case "μεγαλύτερη", "μεγαλύτερο", "μεγαλύτερος", "περισσότερα":
		return rMore
	case "από":
		return rThan
	case "γεμάτο":
		return rFull
	}
	return 0
}

// hebrewRole is the dictionary of Hebrew, whose article and short prepositions are written in front of a word.
func hebrewRole(w string) role {
	if r := hebrewStem(w); r != 0 {
		return r
	}
	for n := 0; n < 2; n++ {
		rest := w
		for _, prefix := range [...]string{"ה", "ב", "ל", "מ", "ש", "ו"} {
			if rest = strings.TrimPrefix(w, prefix); rest != w {
				break
			}
		}
		if rest == w {
			return 0
		}
		w = rest
		if r := hebrewStem(w); r != 0 {
			return r
		}
	}
	return 0
}

func hebrewStem(w string) role {
	switch w {
	case "קלט", "הודעה", "הודעת", "הודעות", "שיחה", "שיחת", "פרומפט", "הנחיה":
		return rInput
	case "פלט", "תשובה", "תשובת":
		return rOutput
	case "תמונה", "תמונת", "קובץ":
		return rMedia
	case "בקשה", "בקשת", "בקשות", "בקשתך":
		return rRequest
	case "אסימון", "אסימונים", "טוקן", "טוקנים":
		return rToken
	case "הקשר":
		return rContext
	case "חלון", "גודל":
		return rCapacity
	case "אורך":
		return rCapacity | rLength
	case "מספר", "כמות":
		return rLength
	case "מגבלה", "מגבלת", "גבול":
		return rCapacity | rMax
	case "מקסימום", "מקסימלי", "מקסימלית", "מרבי", "מרבית", "מירבי", "מותר":
		return rMax
	case "חורג", "חורגת", "חורגים", "חורגות", "חרג", "חרגה", "חריגה":
		return rOver
	case "מדי", "מידי":
		return rToo
	case "ארוך", "ארוכה", "ארוכים", "גדול", "גדולה", "רבים", "רבות":
		return rBig
	case "מלא":
		return rFull
	}
	return 0
}

func hindiRole(w string) role {
	switch w {
	case "इनपुट", "संदेश", "संदेशों", "प्रॉम्प्ट", "बातचीत", "वार्तालाप":
		return rInput
	case "आउटपुट", "उत्तर", "जवाब":
		return rOutput
	case "छवि", "चित्र", "फ़ाइल", "फाइल":
		return rMedia
	case "अनुरोध", "अनुरोधों":
		return rRequest
	case "टोकन", "टोकनों":
		return rToken
	case "संदर्भ", "कॉन्टेक्स्ट":
		return rContext
	case "विंडो", "आकार":
		return rCapacity
	case "लंबाई":
		return rCapacity | rLength
	case "संख्या":
		return rLength
	case "सीमा":
		return rCapacity | rMax
	case "अधिकतम", "अनुमत":
		return rMax
	case "अधिक", "ज़्यादा": // "बहुत अधिक" is too many, "से अधिक" more than
		return rOver | rBig
	case "पार":
		return rOver
	case "बहुत":
		return rToo
	case "लंबा", "लंबी", "लंबे", "बड़ा", "बड़ी", "बड़े":
		return rBig
	case "भरी", "भर":
		return rFull
	}
	return 0
}

// arabicRole is the dictionary of Arabic and of Persian, which share their letters. Arabic words carry the article and
// short prepositions in front and signs of their case at the end. arabicRole removes both first.
func arabicRole(w string) role {
	w = strings.TrimRight(w, "ًٌٍَُِّ")
	w = strings.TrimSuffix(w, "ًا")
	for _, prefix := range [...]string{"وال", "بال", "لل", "ال"} {
		if rest, ok := strings.CutPrefix(w, prefix); ok && len(rest) > 4 {
			w = rest
			break
		}
	}
	switch w {
	case "إدخال", "ادخال", "مدخل", "مدخلات", "مطالبة", "موجه", "رسالة", "رسائل", "رسائلك", "محادثة", "ورودی", "پیام",
		"پیامها", "پیامهای",
		"گفتگو", "مکالمه", "پرامپت":
		return rInput
	case "إخراج", "مخرجات", "إجابة", "خروجی", "پاسخ":
		return rOutput
	case "صورة", "ملف", "تصویر", "فایل":
		return rMedia
	case "طلب", "طلبك", "طلبات", "درخواست", "درخواستها", "درخواستهای":
		return rRequest
	case "رمز", "رمزا", "رموز", "توكن", "توكنات", "توکن", "توکنها", "توکنهای":
		return rToken
	case "سياق", "سياقية", "زمینه", "بافت":
		return rContext
	case "نافذة", "حجم", "سعة", "پنجره", "اندازه":
		return rCapacity
	case "طول":
		return rCapacity | rLength
	case "عدد", "تعداد":
		return rLength
	case "حد":
		return rCapacity | rMax
	case "أقصى", "اقصى", "مسموح", "حداکثر", "مجاز":
		return rMax
	case "تجاوز", "يتجاوز", "تتجاوز", "تجاوزت", "يتخطى", "تتخطى", "فراتر":
		return rOver
	case "جد", "جدا", "للغاية", "خیلی", "بسیار":
		return rToo
	case "طويل", "طويلة", "كبير", "كبيرة", "كثيرة", "طولانی", "بزرگ", "زیاد", "زیادی":
		return rBig
	case "أطول", "أكبر", "أكثر", "بیش", "بزرگتر":
		return rMore
	case "بیشتر": // Persian says "than the limit more"
		return rMore | rOver
	case "من", "از":
		return rThan
	case "يحتوي", "تحتوي", "أرسلت":
		return rActual
	case "ممتلئ", "ممتلئة", "پر":
		return rFull
	}
	return 0
}
