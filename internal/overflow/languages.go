package overflow

import (
	"slices"
	"unicode/utf8"
)

// More languages than stand in the dictionary beside English. Their words bend, so that a word has several forms here;
// a form is added where a refusal is likely to have it.

// languageRole is the third part of the dictionary.
func languageRole(w string) role {
	if w == "" {
		return 0
	}
	if w[0] >= utf8.RuneSelf {
		if r := scriptRole(w); r != 0 {
			return r
		}
	}
	switch w {
	case "zapytanie", "zapytania", "wejścia", "wiadomość", "wiadomości", "rozmowa", "istem", "istemi", "isteminiz",
		"girdiniz", "mesaj", "mesajı", "mesajınız", "mesajlar", "mesajları", "mesajlarınız", "konuşma",
		"sohbet", "vraag", "bericht", "berichten", "gesprek", "запит", "повідомлення", "intrarea", "meldingen", "syöte",
		"syötteen", "kehote", "viesti", "viestit", "keskustelu", "bemenet", "üzenet", "üzenetek", "beszélgetés",
		"vào", "nhắn", "nhắc", "thoại", "meddelandet", "meddelande", "meddelanden", "prompten", "inmatning",
		"inmatningen", "indatan", "konversationen", "samtalet", "samtalen", "melding", "meldinger",
		"besked", "beskeden", "meldingene",
		"beskeder", "beskederne", "zpráva", "zprávy", "inndata", "inddata", "pesan", "percakapan":
		return rInput
	case "żądanie", "żądania", "żądań", "zapytań", "istek", "isteği", "isteğiniz", "verzoek", "verzoeken", "pyyntö",
		"pyyntöä",
		"pyyntösi", "kérés", "kérése", "kérések", "yêu", "cầu", "begäran", "förfrågan", "förfrågningar", "anrop",
		"forespørsel", "forespørselen", "forespørsler", "anmodning", "anmodningen", "anmodninger", "permintaan":
		return rRequest
	case "tokenów", "tokeny", "tokenů", "tokenlar", "tokenler", "belirteç", "belirteci", "belirteçler",
		"токенів", "tokenuri", "tokenia", "tokenien", "tokenek", "tokenje", "tokengräns", "tokengränsen",
		"tokengrense", "tokengrensen", "tokengrænse", "tokengrænsen":
		return rToken
	case "kontekstowe", "kontekstowego", "kontekście", "bağlamı", "bağlamın", "bağlamına", "контексту", "konteksti",
		"kontekstin", "kontextus", "cảnh", "konteksten", "kontexten", "kontextens", "kontekstens", "konteks",
		"kontextové", "kontextového":
		return rContext
	case "contextlengte", "kontekstlengde", "kontekstlængde", "konteksti-ikkuna", "kontextusablak", "kontextusablakot",
		"kontextusablakát", "kontextushossz", "kontextushosszt", "kontextushosszát", "kontextgräns", "kontextgränsen",
		"kontextlängd", "kontextlängden", "kontextfönstret", "kontextstorlek", "kontextstorleken", "kontekstgrense",
		"kontekstgrensen", "kontekstgrænse", "kontekstgrænsen", "kontekstvinduet", "kontekstlengden",
		"kontekstlængden":
		return rContext | rCapacity | rMax
	case "okno", "okna", "oknie", "rozmiar", "rozmiaru", "pencerenin", "penceresinin", "penceresine", "boyutu",
		"boyutunu", "venster", "grootte", "вікно", "fereastra", "ikkuna", "ikkunan", "koko", "koon", "ablak", "ablakot",
		"ablakát", "méret", "mérete", "sổ", "fönster", "fönstret", "vindu", "vinduet", "vindue", "storlek", "storleken",
		"størrelse", "størrelsen", "jendela":
		return rCapacity
	case "długość", "długości", "uzunluk", "uzunluğu", "uzunluğunu", "uzunluğuna", "lengte", "довжину", "довжина",
		"lungimea", "pituus", "pituuden", "hossz", "hossza", "hosszát", "längd", "längden", "lengde", "lengden",
		"længde", "længden":
		return rCapacity | rLength
	case "liczba", "liczbę", "liczby", "sayısı", "sayısını", "aantal", "määrä", "száma", "lượng", "antal", "antalet",
		"antall", "antallet", "jumlah":
		return rLength
	case "limitu", "limitem", "limicie", "sınır", "sınırı", "sınırını", "limiti", "limitini", "limiet", "raja", "rajan",
		"enimmäispituus", "enimmäispituuden", "enimmäismäärä", "enimmäismäärän", "korlát", "korlátot", "korlátját",
		"hạn", "gräns", "gränsen", "maxgräns", "maxgränsen", "grense", "grensen", "grænse", "grænsen", "maxlängd",
		"maxlängden", "makslengde", "maksimumgrænsen":
		return rCapacity | rMax
	}
	return languageRelation(w)
}

// bigBehindFor reports whether a word behind "for" is Danish or Norwegian: "er for lang" is too long. Parameters are
// called lang and store in English, where another word stands in front: "unsupported value for lang".
func bigBehindFor(word, before string) bool {
	switch word {
	case "langt", "lange", "stor", "stort", "mange":
		return true
	case "lang", "store":
		return slices.Contains([]string{"", "er", "var", "alt", "ble", "blev", "blir", "bliver", "være"}, before)
	}
	return false
}

// languageRelation is the part of languageRole that says how two sizes compare, and what an answer does.
func languageRelation(w string) role {
	switch w {
	case "maksymalny", "maksymalna", "maksymalną", "maksymalnej", "maksymalnego", "maksymalne", "maksymalnie",
		"najwyżej", "dozwolona", "dozwoloną", "azami", "maksimumu", "toegestaan", "toegestane",
		"максимальну", "максимуме", "максимума", "maksimalt", "maxim", "maximă", "enintään", "sallittu", "sallitun",
		"suurin", "suurimman", "maximális",
		"legfeljebb", "megengedett", "đa", "phép", "højst", "høyst", "maximalt", "maximala", "maksimale", "högsta",
		"tillåtna", "tillåtet", "tilladte", "tilladt", "tillatte", "tillatt":
		return rMax
	case "przekraczają", "przekroczono", "przekroczyła", "przekroczyło", "przekroczył",
		"przekroczona", "przekroczone", "przekroczony", "aştı", "aşıldı", "aşmaktadır", "aşmış", "aşan",
		"overschrijden", "overschreden", "перевищує", "перевищено", "depășește", "overskrider", "overskredet",
		"ylittää",
		"ylittävät", "ylitti", "ylittyi", "ylitetty", "ylittynyt", "túllépi", "túllépik", "túllépte", "meghaladja",
		"meghaladják", "meghaladta", "överskrids", "överskridits", "överskreds", "överstiger", "overstiger",
		"overskrides", "overstiges", "přesahuje", "přesáhl", "přesáhla", "přesáhli", "překračuje", "překročen",
		"překročena", "překročeno", "překročil", "překročili":
		return rOver
	case "za", "příliš", "занадто", "надто", "prea", "liian", "túl", "quá":
		return rToo
	case "długie", "długą", "duży", "duża", "duże", "wiele", "dużo", "groot", "dlouhý", "довгий", "великий", "langt",
		"lung", "lungă", "pitkä", "pitkiä", "suuri", "monta", "hosszú", "nagy", "sok", "lớn", "nhiều", "lange", "långa",
		"stor", "stort", "stora", "store", "mange", "många":
		return rBig
	case "dài": // "quá dài" is too long, "độ dài" a length
		return rBig | rCapacity | rLength
	case "fazla": // "çok fazla" is too many, "en fazla" at most
		return rBig | rLess
	case "więcej", "dłuższa", "dłuższy", "większa", "większy", "uzundur", "meer", "langer", "suurempi", "pidempi",
		"nagyobb", "hosszabb", "hơn", "längre", "lengre", "længere", "fler", "flere", "mer", "mere":
		return rMore
	case "niż", "kuin", "mint", "enn":
		return rThan
	case "más", "mais", "più", "plus":
		return rAdds
	case "kontingent", "tageskontingent", "monatskontingent", "cuota", "cota", "kvot", "kvoten", "kvote", "dagskvot",
		"dagskvoten", "månadskvot", "månadskvoten", "guthaben", "crédit", "crédits", "crédito", "créditos", "crediti",
		"saldo", "solde", "кредитов", "баланса":
		return rQuota
	case "jest", "ist", "ngữ":
		return rSkip
	case "obraz", "obrazu", "plik", "pliku", "resim", "görsel", "dosya", "afbeelding", "bestand", "kuva", "tiedosto",
		"kép", "fájl", "hình", "ảnh", "tệp":
		return rMedia
	case "odpowiedź", "odpowiedzi", "wyjścia", "çıktı", "yanıt", "uitvoer", "antwoord", "vastaus", "vastauksen",
		"tuloste", "válasz", "kimenet", "kimeneti", "trả", "svar", "svaret", "utdata":
		return rOutput
	case "pełne", "pełny", "pełna", "zapełnione", "dolu", "doldu", "sığmıyor", "vol", "täynnä", "megtelt", "đầy",
		"fullt", "fuldt", "fyldt":
		return rFull
	case "suporta", "soporta", "verarbeiten", "verarbeitet", "aankan", "ondersteunt", "accepteert",
		"obsługuje", "destekliyor", "destekler", "stöder", "stödjer", "tillåter", "accepterar", "klarar", "hanterar",
		"rymmer", "rommer", "rummer", "støtter", "understøtter", "tillater", "tillader", "aksepterer", "accepterer":
		return rHolds
	case "skróć", "skrócić", "kısaltın", "azaltın", "verkort":
		return rReduce
	}
	return languageSpan(w)
}

// languageSpan is the last part of the dictionary: the spans of time that rates and quotas are counted in.
func languageSpan(w string) role {
	switch w {
	case "minutę", "minute", "minutes", "min", "second", "seconds", "hour", "hours", "sec", "60s", "1m", "1h", "hourly",
		"minut", "minutt", "minuto", "minuten", "минуту", "минуты", "segundo", "secondo", "sekunde",
		"stunde", "секунду", "minuut", "uur",
		"heure", "hora":
		return rTime
	case "day", "days", "month", "week", "daily", "monthly", "weekly", "tpd", "rpd", "today", "todays",
		"tag", "woche", "monat", "heute", "tägliche", "tägliches", "täglichen", "tageslimit", "wöchentliche",
		"wöchentliches", "wöchentlichen", "wochenlimit", "monatliche", "monatliches", "monatlichen", "monatslimit",
		"dag", "dagsgräns", "dagsgränsen", "månadsgränsen", "veckogränsen", "maand", "dagelijkse",
		"wekelijkse", "maandelijkse",
		"jour", "semaine", "mois", "quotidienne", "mensuelle",
		"día", "mes", "semana", "diario", "diaria", "mensual", "dia", "mês", "diário", "diária", "mensal",
		"giorno", "settimana", "mese", "giornaliero", "mensile":
		return rDay
	case "minutenlimit", "stundenlimit", "ratenlimit":
		return rRate
	}
	return 0
}
