package overflow

// roleOf is the dictionary. The words are those of the refusals that were collected from some eighty
// providers, gateways and servers, and their synonyms; those of other European languages stand beside
// the English ones, scripts without spaces have their own lists in wide.go.
func roleOf(w string) role {
	switch w {
	case "prompt", "prompts", "input", "inputs", "messages", "conversation", "conversations", "history", "transcript",
		"question", "query", "dialog", "dialogue", "chat", "entrada", "eingabe", "entrée", "invite", "nachricht",
		"nachrichten", "unterhaltung", "mensaje", "mensajes", "mensagem", "mensagens",
		"konversation", "conversación", "conversa", "invoer", "indata", "vstup",
		"wejście", "girdi", "masukan", "промпт", "запрос", "запроса", "сообщение", "ввод":
		return rInput
	case "message":
		return rInput | rMessage
	case "input_ids":
		return rInput | rToken
	case "request", "requests", "payload", "body", "entity", "anfrage", "anfragen", "requête", "requêtes", "solicitud",
		"solicitudes", "solicitação", "solicitações", "requisição", "requisições", "pedido",
		"richieste", "запросов", "aanvragen":
		return rRequest
	case "token", "tokens", "tokencount", "tokenanzahl", "tokenlimit", "jetons", "токенов", "токены":
		return rToken
	case "context", "contexts", "ctx", "kontext", "contexto", "contexte", "contesto", "контекст", "контекста",
		"kontekstu", "kontekst", "bağlam":
		return rContext
	case "contextwindow", "kontextfenster", "contextvenster", "kontextfönster", "kontekstvindu", "kontekstvindue",
		"kontextlänge", "kontextgröße", "contextlength", "n_ctx", "max_model_len", "num_ctx", "n_ctx_train", "ctx_size",
		"session_len", "max_seq_len", "max_position_embeddings", "truncation_length":
		return rContext | rCapacity | rMax
	case "array", "arrays":
		return rField | rHint
	case "capacity":
		return rCapacity | rHint
	case "window", "size", "ventana", "fenêtre", "finestra", "janela", "окно", "окна", "pencere", "penceresi",
		"penceresini", "tamaño", "taille", "größe", "budget", "space":
		return rCapacity
	case "length", "len", "longitud", "longueur", "lunghezza", "länge", "comprimento", "длина", "длину", "длины":
		return rCapacity | rLength
	case "count", "number", "anzahl", "número", "nombre", "quantity":
		return rLength
	case "limit", "limits", "limite", "límite", "лимит", "лимите", "лимита", "ceiling", "threshold", "cap", "maxlength":
		return rCapacity | rMax
	case "maximum", "max", "maximal", "maximale", "allowed", "permitted", "allowable", "limited", "capped", "maximaal",
		"maksimum", "maksimal", "maks", "batas", "högst", "höchstens", "máximo", "máxima", "massimo", "massima",
		"maximum_length", "upper", "максимум", "максимальный", "максимальную", "максимальной", "supported":
		return rMax
	case "exceed", "exceeds", "exceeded", "exceeding", "overflow", "overflows", "overflowed", "overflowing", "surpass",
		"surpasses", "surpassed", "beyond", "oversized", "oversize", "breached", "breaches", "overlong", "overrun",
		"überschreitet", "überschreiten", "überschritten", "übersteigt", "exceede", "excede", "supera", "superó",
		"superado", "superada", "excedió", "excedido", "excedeu", "ultrapassou", "dépasse", "dépassée", "dépassé",
		"eccede", "ultrapassa", "превышает", "превышен", "превышена", "outgrew", "outgrown", "przekracza", "vượt",
		"aşıyor", "overschrijdt", "överskrider", "melebihi", "dépassent", "excède", "excèdent", "exceden", "superan",
		"excedem", "ultrapassam", "superano", "superato", "eccedono", "превышают":
		return rOver
	case "too", "zu", "trop", "demasiado", "demasiada", "demasiados", "demasiadas", "troppi", "troppe", "muitos",
		"muitas", "troppo", "muito", "demais", "слишком", "te", "çok", "zbyt", "för", "terlalu":
		return rToo
	case "long", "large", "big", "many", "high", "veel", "lengthy", "huge", "lang", "groß", "largo", "larga", "lungo",
		"lunga", "longo", "longa", "longue", "grande", "viele", "lång", "långt", "uzun", "długi", "długa", "panjang",
		"длинный", "длинное", "большой", "много":
		return rBig
	case "longer", "larger", "mehr", "bigger", "greater", "more", "higher", "länger", "größer", "groter", "större",
		"supérieur",
		"supérieure", "mayor", "maior", "maggiore", "длиннее", "больше":
		return rMore
	case "less", "fewer", "most", "smaller", "under", "below":
		return rLess
	case "than", "als", "dan", "än", "à", "que", "di", "чем":
		return rThan
	case "max_tokens", "max_completion_tokens", "max_new_tokens", "max_output_tokens", "maxtokens", "maxoutputtokens",
		"budget_tokens", "max_tokens_to_sample", "num_predict", "n_predict", "maxcompletiontokens":
		return rOutput | rOutParam
	case "output", "outputs", "completion", "completions", "response", "responses", "generation", "generated", "answer",
		"reply", "prediction", "reasoning", "thinking", "reserve", "reserved", "ausgabe", "antwort", "sortie",
		"réponse", "salida", "respuesta", "saída", "resposta", "uscita", "risposta",
		"ответ", "ответа", "вывод", "вывода":
		return rOutput
	case "reduce", "shorten", "decrease", "trim", "truncate", "shrink", "compress", "compact", "shorter", "reducing",
		"reduced", "shortening", "kürzen", "réduisez", "reduzca", "reduce_the":
		return rReduce
	case "exhausted":
		return rFull | rHint
	case "full", "fit", "fits", "exhausts", "occupy", "occupies", "reached", "hit", "room",
		"overfull", "fill", "fills", "filled", "voll",
		"lleno", "llena", "plein", "pleine", "pieno", "cheio", "заполнен":
		return rFull
	}
	return sideRole(w)
}

// sideRole is the second half of the dictionary: units, fields, and what rules an overflow out.
func sideRole(w string) role {
	switch w {
	case "must", "should", "cannot", "can", "expected", "only", "support", "up", "range", "darf":
		return rMust
	case "supports":
		return rMust | rHolds
	case "hold", "holds", "take", "reads", "handle", "handles", "accepts", "allows", "permits", "serves", "processes",
		"accepted", "served", "accepte", "acepta", "admite", "aceita", "accetta", "permite", "erlaubt", "unterstützt",
		"akzeptiert":
		return rHolds
	case "left", "leaves", "leaving", "remaining", "remain", "remains", "available", "free", "unused", "spare":
		return rLeft
	case "byte", "bytes", "mb", "mib", "kb", "kib", "gb", "gib", "megabytes", "kilobytes", "octets":
		return rBytes
	case "character", "characters", "char", "chars", "zeichen", "caracteres", "caractères", "символов":
		return rChars
	case "image", "images", "pixels", "pixel", "dimension", "dimensions", "audio", "video", "videos", "pdf", "page",
		"pages", "file", "files", "document", "documents", "attachment", "attachments", "encoder", "mime", "media",
		"upload", "picture", "frames":
		return rMedia
	case "id", "ids", "call_id", "tool_call_id", "tool_use_id", "name", "names", "pattern", "description",
		"descriptions", "enum", "items", "elements", "item", "packet", "packets", "expiry", "age", "retries",
		"redirects", "depth", "attempts", "iterations", "email", "password", "metadata", "schema", "properties",
		"function", "functions", "temperature", "top_p", "top_k", "cache", "cached", "caching", "stop",
		"encrypted_content", "blocks", "cache_control", "title", "header", "headers", "url", "filename", "path", "key",
		"tool_use", "tool_result", "varying", "label", "logit_bias", "seed", "queue", "tls", "handshake", "cookie",
		"cookies":
		return rField
	case "asked", "has", "have", "had", "contains", "contain", "contained", "got", "given", "received", "supplied",
		"requested", "resulted", "passed", "sent", "actual", "current", "currently", "provided", "used", "recebidos",
		"enviados", "recibidos", "reçus", "envoyés", "erhalten", "gesendet", "ricevuti", "inviati", "получено",
		"totals", "total", "first", "estimated", "found", "was", "counted", "need", "needs", "require", "requires",
		"takes", "uses", "sum", "contient", "comporte", "contiene", "tiene", "contém", "tem", "enthält", "hat",
		"innehåller", "inneholder", "indeholder", "umfasst", "har", "má":
		return rActual
	case "tpm", "rpm", "rps", "throttled", "throttling", "throttle", "ratelimit", "ratelimited", "ratelimiterror",
		"ratelimitexceeded", "qps", "qpm", "concurrency", "concurrent", "burst", "cooldown":
		return rRate
	case "per", "pro", "par", "por", "each":
		return rPer
	case "quota", "quotas", "billing", "credit", "credits", "balance", "afford", "payment", "spend", "spending",
		"prepaid", "insufficient_quota", "allowance", "allotment", "arrears", "arrearage", "overdue",
		"recharge", "topup", "wallet":
		return rQuota
	case "canceled", "cancelled", "bufio", "sendto", "sendmsg", "udp", "resets", "flagged", "moderation", "http",
		"deadline", "timed", "timeout", "time", "api", "unauthorized", "unauthenticated", "authentication", "security",
		"expired", "access", "sign", "permission", "permissions", "scopes", "forbidden", "service", "overloaded",
		"upstream", "gateway", "temporarily", "busy", "cost", "demand", "explain", "returns", "why", "how", "curl",
		"usage", "string", "rate", "please", "again", "retry", "i", "slow", "slower", "quickly", "fast", "often",
		"frequently", "frequent", "last", "past", "previous", "signature", "credential", "credentials", "jwt", "bearer",
		"oauth", "authorization", "authorized", "denied", "invalid", "revoked", "apikey", "session", "refresh", "auth",
		"took", "taking", "loading", "login", "traffic", "healthy", "ready", "refills", "parallel", "etimedout",
		"esockettimedout", "load", "zeitüberschreitung":
		return rHint
	case "the", "a", "an", "of", "for", "to", "is", "are", "be", "this", "your", "you", "that", "models", "model", "in",
		"its", "our", "and":
		return rSkip
	}
	return languageRole(w)
}
