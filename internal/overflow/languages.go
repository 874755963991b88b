package overflow

import "strings"

// More languages than stand in the dictionary beside English. Their words bend, so that a word has several forms here;
// a form is added where a refusal is likely to have it.

// languageRole is the third part of the dictionary.
func languageRole(w string) role {
	switch {
	case w == "":
		return 0
	case w[0] == 0xd8 || w[0] == 0xd9: // the Arabic letters
		return arabicRole(w)
	}
	switch w {
	case "zapytanie", "zapytania", "wejścia", "wiadomość", "wiadomości", "rozmowa", "istem", "istemi", "isteminiz",
		"girdiniz", "mesaj", "mesajı", "mesajınız", "mesajlar", "mesajları", "mesajlarınız", "konuşma",
		"sohbet", "vraag", "bericht", "berichten", "gesprek", "запит", "повідомлення", "intrarea", "meldingen":
		return rInput
	case "żądanie", "żądania", "żądań", "istek", "isteği", "isteğiniz", "verzoek", "verzoeken":
		return rRequest
	case "tokenów", "tokeny", "tokenů", "tokenlar", "tokenler", "belirteç", "belirteci", "belirteçler",
		"токенів", "tokenuri":
		return rToken
	case "kontekstowe", "kontekstowego", "kontekście", "bağlamı", "bağlamın", "bağlamına", "контексту":
		return rContext
	case "contextlengte", "kontekstlengde", "kontekstlængde":
		return rContext | rCapacity | rMax
	case "okno", "okna", "oknie", "rozmiar", "rozmiaru", "pencerenin", "penceresinin", "penceresine", "boyutu",
		"boyutunu", "venster", "grootte", "вікно", "fereastra":
		return rCapacity
	case "długość", "długości", "uzunluk", "uzunluğu", "uzunluğunu", "uzunluğuna", "lengte", "довжину", "довжина",
		"lungimea":
		return rCapacity | rLength
	case "liczba", "liczbę", "liczby", "sayısı", "sayısını", "aantal":
		return rLength
	case "limitu", "limitem", "limicie", "sınır", "sınırı", "sınırını", "limiti", "limitini", "limiet":
		return rCapacity | rMax
	}
	return languageRelation(w)
}

// languageRelation is the part of languageRole that says how two sizes compare, and what an answer does.
func languageRelation(w string) role {
	switch w {
	case "maksymalny", "maksymalna", "maksymalną", "maksymalnej", "maksymalnego", "maksymalne", "maksymalnie",
		"najwyżej", "dozwolona", "dozwoloną", "azami", "maksimumu", "toegestaan", "toegestane",
		"максимальну", "maksimalt", "maximă":
		return rMax
	case "przekraczają", "przekroczono", "przekroczyła", "przekroczyło", "przekroczył",
		"przekroczona", "przekroczone", "przekroczony", "aştı", "aşıldı", "aşmaktadır", "aşmış", "aşan",
		"overschrijden", "overschreden", "перевищує", "перевищено", "depășește", "overskrider", "overskredet":
		return rOver
	case "za", "příliš", "занадто", "надто", "prea":
		return rToo
	case "długie", "długą", "duży", "duża", "duże", "wiele", "dużo", "groot", "dlouhý", "довгий", "великий", "langt",
		"lung", "lungă":
		return rBig
	case "fazla": // "çok fazla" is too many, "en fazla" at most
		return rBig | rLess
	case "więcej", "dłuższa", "dłuższy", "większa", "większy", "uzundur", "meer", "langer":
		return rMore
	case "niż":
		return rThan
	case "jest", "ist":
		return rSkip
	case "obraz", "obrazu", "plik", "pliku", "resim", "görsel", "dosya", "afbeelding", "bestand":
		return rMedia
	case "odpowiedź", "odpowiedzi", "wyjścia", "çıktı", "yanıt", "uitvoer", "antwoord":
		return rOutput
	case "pełne", "pełny", "pełna", "zapełnione", "dolu", "doldu", "sığmıyor", "vol":
		return rFull
	case "aankan", "ondersteunt", "accepteert", "obsługuje", "destekliyor", "destekler":
		return rHolds
	case "skróć", "skrócić", "kısaltın", "azaltın", "verkort":
		return rReduce
	}
	return 0
}

// arabicRole is the dictionary of Arabic. Its words carry the article and short prepositions in front and signs of
// their case at the end, which are taken off first.
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
	case "إدخال", "ادخال", "مدخل", "مدخلات", "مطالبة", "موجه", "رسالة", "رسائل", "رسائلك", "محادثة":
		return rInput
	case "إخراج", "مخرجات", "إجابة":
		return rOutput
	case "صورة", "ملف":
		return rMedia
	case "طلب", "طلبك", "طلبات":
		return rRequest
	case "رمز", "رمزا", "رموز", "توكن", "توكنات":
		return rToken
	case "سياق", "سياقية":
		return rContext
	case "نافذة", "حجم", "سعة":
		return rCapacity
	case "طول":
		return rCapacity | rLength
	case "عدد":
		return rLength
	case "حد":
		return rCapacity | rMax
	case "أقصى", "اقصى", "مسموح":
		return rMax
	case "تجاوز", "يتجاوز", "تتجاوز", "تجاوزت", "يتخطى", "تتخطى":
		return rOver
	case "جد", "جدا", "للغاية":
		return rToo
	case "طويل", "طويلة", "كبير", "كبيرة", "كثيرة":
		return rBig
	case "أطول", "أكبر", "أكثر":
		return rMore
	case "من":
		return rThan
	case "يحتوي", "تحتوي", "أرسلت":
		return rActual
	case "ممتلئ", "ممتلئة":
		return rFull
	}
	return 0
}
