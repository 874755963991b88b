package overflow

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
)

// The texts here are invented: wordings that no provider of the catalogue has, so that a rule that only
// knows its examples fails.

var overflowTexts = []struct {
	why           string
	text          string
	tokens, limit int
}{
	{"a synonym for each word", "The conversation is larger than the model can accept: 91,204 tokens, the maximum is 65,536.", 91204, 65536},
	{"window named last", "Unable to process 210000 input tokens: context window is 200000", 210000, 200000},
	{"limit first", "Max context is 32768 tokens, got 40110", 40110, 32768},
	{"limit in thousands", "Your prompt exceeds the 128k context window", 0, 128000},
	{"no numbers", "The submitted conversation does not fit in the model's context window.", 0, 0},
	{"context named short", "Context overflow: shorten the conversation", 0, 0},
	{"past tense", "Context limit exceeded", 0, 0},
	{"code alone", `{"error":{"code":"context_window_exceeded","message":"Bad request"}}`, 0, 0},
	{"camel case", `{"__type":"InputTooLongException","message":"rejected"}`, 0, 0},
	{"code in capitals", `{"code":"PROMPT_TOO_LONG","detail":"see docs"}`, 0, 0},
	{"count and window as fields", `{"error":{"type":"context_overflow","message":"does not fit the context","prompt_tokens":9001,"context_length":8192}}`, 9001, 8192},
	{"sum with its parts", "Total tokens 70536 (prompt 66440 + completion 4096) exceed model limit 65536", 70536, 65536},
	{"parts without a sum", "This model supports a context of at most 8192 tokens; your request has 8000 prompt tokens and asks for 1000 completion tokens", 9000, 8192},
	{"fraction", "prompt overflow: 140000/131072 tokens", 140000, 131072},
	{"greater-than sign", "context length exceeded (150000 > 131072)", 150000, 131072},
	{"difference", "input exceeds the limit by 500 tokens. The limit is 8000 tokens", 8500, 8000},
	{"FastAPI's detail", `HTTP 422: {"detail":[{"loc":["body","messages"],"msg":"prompt has 5000 tokens which exceeds the maximum of 4096","type":"value_error","input":"hello"}]}`, 5000, 4096},
	{"errors as an array of strings", `{"errors":["Prompt too long (35000 tokens). Maximum: 32768 tokens"]}`, 35000, 32768},
	{"OpenRouter's raw, doubly encoded", `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"input is longer than the context window: 50000 tokens > 40000 tokens\"}}"}}}`, 50000, 40000},
	{"Go's %q of a body", `request failed: "{\"error\":{\"message\":\"The prompt is too long for this model\"}}"`, 0, 0},
	{"Python's repr", `BadRequestError(400): {'detail': 'messages exceed the maximum context size of 16384 tokens'}`, 0, 16384},
	{"an event of a stream", "event: error\ndata: {\"type\":\"error\",\"error\":{\"message\":\"prompt exceeds context window\"}}\n\n", 0, 0},
	{"gRPC", "rpc error: code = InvalidArgument desc = input sequence length 9000 is greater than maximum sequence length 8192", 9000, 8192},
	{"a 500 with numbers", "500 Internal Server Error: prompt length 12000 exceeds context size 8192", 12000, 8192},
	{"a typed name", "ContextLengthError: too many tokens in prompt", 0, 0},
	{"advice only", "Please shorten your input and try again.", 0, 0},
	{"maximum stated", "Maximum input length is 30720 tokens.", 0, 30720},
	{"condition", "The total number of input tokens must be less than or equal to 32768, but 40000 were given", 40000, 32768},
	{"room", "No room left in the context window for a reply", 0, 0},
	{"ran out", "The model ran out of context", 0, 0},
	{"sequence", "Token indices sequence length is longer than the specified maximum sequence length for this model (5231 > 4096)", 5231, 4096},
	{"Chinese, numbers in the sentence", "输入的 token 数量 140000 超过了模型的最大上下文长度 131072", 140000, 131072},
	{"Chinese, glued numbers", "提示词过长：当前长度为150000，最大限制为128000", 150000, 128000},
	{"traditional Chinese", "輸入內容超過模型的上下文長度上限", 0, 0},
	{"Japanese", "プロンプトが長すぎます。コンテキスト長の上限は8192トークンです", 0, 8192},
	{"Korean", "입력 토큰 수가 모델의 최대 컨텍스트 길이를 초과했습니다", 0, 0},
	{"German", "Die Eingabe ist zu lang: 9000 Token, maximal 8192", 9000, 8192},
	{"French", "La requête dépasse la taille maximale du contexte", 0, 0},
	{"Spanish", "El mensaje excede la ventana de contexto del modelo", 0, 0},
	{"Russian", "Запрос превышает максимальную длину контекста", 0, 0},
	{"an overflow that mentions the answer", "prompt (31000 tokens) plus max_tokens (2000) exceeds context window (32768)", 33000, 32768},
	{"lower bound", "maximum context length is 8192 tokens, your prompt contains at least 8193 tokens", 0, 8192},
	{"request with a model's name", "Request to llama-3.1-70b-instruct failed: input of 10500 tokens exceeds limit of 8192 tokens", 10500, 8192},
	{"tokens before the limit word", "Your request used 9500 tokens which is above the 8192 token limit", 9500, 8192},
	{"limit in brackets", "Prompt has too many tokens [limit=8192, actual=9500]", 9500, 8192},
	{"JSON numbers with other names", `{"error":"input too long","input_tokens":5000,"max_input_tokens":4096}`, 5000, 4096},
	{"history", "chat history exceeds the allowed size", 0, 0},
	{"sequence of tokens", "Requested 5000 tokens but the model only has a context of 4096", 5000, 4096},
	{"cannot handle", "the model cannot handle prompts longer than 8192 tokens", 0, 8192},
	{"a code that means one thing, and a model's words", `{"error":{"code":"context_length_exceeded","message":"I cannot read that much. Why not start anew?"}}`, 0, 0},
	{"the size behind a colon, the limit in the same sentence", "The context exceeds the limit of the model: 40000 tokens while the maximum is 32768 tokens.", 40000, 32768},
	{"the same in French", "Le contexte dépasse la limite du modèle : 40000 tokens alors que le maximum est de 32768 tokens.", 40000, 32768},
	{"the size behind a colon, the limit in brackets", "Input exceeds maximum length: 40000 tokens (limit 32768)", 40000, 32768},
	{"a limit behind a colon, another limit in another sentence", "Prompt exceeds the maximum context length: 32768 tokens. Lower max_tokens below 8192.", 0, 32768},
	{"a limit behind a colon, a remark with a part of it", "Prompt exceeds the context limit: 131072 tokens (input limit 122880)", 0, 131072},
	{"a limit behind a colon alone", "Prompt exceeds the maximum context length: 32768", 0, 32768},
	{"Russian, the maximum in brackets", "Контекст превышен: 150000 токенов (максимум 131072)", 150000, 131072},
	{"French, two subjects", "L'entrée et la sortie dépassent la fenêtre de contexte de 131072 jetons", 0, 131072},
	{"Spanish, both sides named", "La entrada (135000 tokens) más la salida (5000 tokens) supera el máximo de 131072 tokens: 140000", 140000, 131072},
	{"German, the answer beside it", "Ihre Eingabe ist zu lang für eine Antwort: höchstens 8192 Token", 0, 8192},
	{"a window whose size stands before it, joined by a hyphen", "prompt of 9000 tokens does not fit into the 8192-token window", 9000, 8192},
	{"that window alone", "The prompt does not fit into the 8192-token window", 0, 8192},
	{"French, what the request contains and what the model accepts", "Votre requête contient 35012 jetons, mais le modèle accepte seulement 32768 jetons", 35012, 32768},
	{"the same with a negation", "Votre requête contient 35012 jetons, mais le modèle n'en accepte que 32768.", 35012, 32768},
	{"two limits and no size", "Prompt exceeds the maximum context length: 131072 tokens, maximum input 122880 tokens", 0, 122880},
	{"no word for the limit", "context size 140000 is over the model's 131072", 140000, 131072},
	{"a limit that was cut off at the end", "prompt is too long: 210000 tokens > 200", 210000, 0},
	{"the same with an ellipsis", "prompt is too long: 210000 tokens > 200...", 210000, 0},
	{"Portuguese, the adverb behind", "A sua mensagem é longa demais para a janela de contexto", 0, 0},
	{"Portuguese, too many", "Sua requisição tem tokens demais para este modelo", 0, 0},
	{"Portuguese, two sentences in one", "O modelo suporta no máximo 131072 tokens, mas a sua solicitação tem 140000 tokens", 140000, 131072},
	{"Portuguese, a difference", "O prompt excede em 9000 tokens a janela de contexto de 131072", 140072, 131072},
	{"Portuguese, fits not", "A mensagem não cabe na janela de contexto do modelo", 0, 0},
	{"German, fits not", "Die Nachricht passt nicht in das Kontextfenster", 0, 0},
	{"German, more than the model can process", "Der Prompt hat mehr Token als das Modell verarbeiten kann", 0, 0},
	{"German, one word for the number of tokens", "Die maximale Tokenanzahl wurde überschritten: 140000 > 131072", 140000, 131072},
	{"German, a difference", "Der Prompt überschreitet um 9000 Token das Kontextfenster von 131072 Token", 140072, 131072},
	{"German, a limit with a hyphen", "Token-Limit überschritten: 140000 von 131072", 140000, 131072},
	{"German, the number before the unit alone", "Zu lang: 140.000 Token (Maximum: 131.072)", 140000, 131072},
	{"German, a limit without its unit", "Limit überschritten: 140000 von 131072 Token", 140000, 131072},
	{"a tag of XML, which is a day in German", "<error><tag>Prompt is too long: 9000 tokens > 8192 maximum</tag></error>", 9000, 8192},
	{"a tag of a model", "The prompt is too long for this tag of the model: 9000 tokens > 8192 maximum", 9000, 8192},
	{"Spanish, fits not", "El mensaje no cabe en la ventana de contexto de 131072 tokens", 0, 131072},
	{"Spanish, a comparative of two words", "Su solicitud es más larga que la ventana de contexto", 0, 0},
	{"Spanish, more tokens than", "Su mensaje contiene más tokens de los que admite el modelo (131072)", 0, 131072},
	{"Spanish, a fraction", "Se superó el límite de contexto: 140000 tokens de 131072", 140000, 131072},
	{"Italian, a limit", "Limite di token superato: 140000 di 131072", 140000, 131072},
	{"Italian, a limit, another preposition", "Limite di token superato: 140000 su 131072", 140000, 131072},
	{"Italian, a limit without its unit", "Limite superato: 140000 di 131072 token", 140000, 131072},
	{"the output of a tool, which is sent", "Tool output too long: 140000 tokens (maximum 131072)", 140000, 131072},
	{"prompt and answer too long", "Input plus output too long: 140000 tokens (maximum 131072)", 140000, 131072},
	{"French, fits not", "L'invite ne tient pas dans la fenêtre de contexte", 0, 0},
	{"text with a colon", "error: n_tokens (5120) > n_ctx (4096)", 5120, 4096},
}

func TestDiagnoseInventedOverflows(t *testing.T) {
	for _, c := range overflowTexts {
		if got, want := classify(errors.New(c.text)), (told{ClassOverflow, c.tokens, c.limit}); got != want {
			t.Errorf("%s: got %+v, want %+v\n%s", c.why, got, want, c.text)
		}
	}
}

var otherTexts = []struct {
	why  string
	text string
	want Class
}{
	{"answer cap", "max_tokens is too large: 100000. This model supports at most 16384 completion tokens", ClassOther},
	{"answer cap, range", "Range of max_tokens should be [1, 8192]", ClassOther},
	{"answer cap, valid range", "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", ClassOther},
	{"answer cap, camel case", "maxOutputTokens must be less than or equal to 8192 but was 65536", ClassOther},
	{"answer cap, range of Gemini", "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive). Update the value and try again.", ClassOther},
	{"answer cap in French", "Le nombre de jetons de sortie demandé (100000) dépasse le maximum autorisé (64000).", ClassOther},
	{"answer cap in Spanish", "La cantidad de tokens de salida (100000) supera el máximo permitido (64000).", ClassOther},
	{"answer cap in Portuguese", "O número de tokens de saída (100000) excede o máximo permitido (64000).", ClassOther},
	{"answer cap in Italian", "Il numero di token di uscita (100000) supera il massimo consentito (64000).", ClassOther},
	{"answer cap in German", "Die Anzahl der Ausgabe-Token (100000) überschreitet das Maximum von 64000.", ClassOther},
	{"an answer that is too long", "Output too long: 140000 tokens (maximum 8192)", ClassOther},
	{"an answer that is too long, a sentence", "The requested output is too long: 140000 tokens > 8192", ClassOther},
	{"an answer that is too long, a body", `{"error":{"message":"Response too long: 140000 tokens, limit 8192","code":400}}`, ClassOther},
	{"an answer that is too long, in German", "Ausgabe zu lang: 140000 Token (maximal 8192)", ClassOther},
	{"an answer that is too long, a sentence in German", "Die Ausgabe ist zu lang: 140000 Token (Maximum: 8192)", ClassOther},
	{"answer cap in Italian, a limit", "Limite di token di uscita superato: 10000 di 8192", ClassOther},
	{"the same with another preposition", "Limite di token in uscita superato: 10000 di 8192", ClassOther},
	{"a limit of a minute in Italian", "Limite di token al minuto superato: 140000 di 131072", ClassRateLimit},
	{"a limit of a day in Italian", "Limite di token al giorno superato: 140000 di 131072", ClassQuota},
	{"a limit of a day in Italian, an adjective", "Limite giornaliero di token superato: 140000 di 131072", ClassQuota},
	{"a limit of a month in Italian", "Limite mensile di token superato: 140000 di 131072", ClassQuota},
	{"a limit of characters in German", "Zu lang: 300 Zeichen (Maximum: 255)", ClassOther},
	{"a limit of a minute in German", "Token-Limit pro Minute überschritten: 140000 von 131072", ClassRateLimit},
	{"a limit of a minute, one word", "Minutenlimit überschritten: 140000 von 131072 Token", ClassRateLimit},
	{"a limit of a day in German", "Token-Limit pro Tag überschritten: 140000 von 131072", ClassQuota},
	{"a limit of a day, one word", "Tageslimit überschritten: 140000 von 131072 Token", ClassQuota},
	{"a limit of a month in German", "Monatliches Token-Limit überschritten: 140000 von 131072", ClassQuota},
	{"a limit of today in German", "Token-Limit für heute überschritten: 140000 von 131072", ClassQuota},
	{"a limit of a day, with je", "Token-Limit je Tag überschritten: 140000 von 131072", ClassQuota},
	{"a limit of a day, with a slash", "Limit überschritten: 131072 Token/Tag", ClassQuota},
	{"a limit of a minute, with je", "Token-Limit je Minute überschritten: 140000 von 131072", ClassRateLimit},
	{"a limit of an hour, one word", "Stundenlimit überschritten: 140000 von 131072 Token", ClassRateLimit},
	{"a limit of a week, one word", "Wochenlimit überschritten: 140000 von 131072 Token", ClassQuota},
	{"a limit of a week in German", "Wöchentliches Token-Limit überschritten: 140000 von 131072", ClassQuota},
	{"a limit of this week in German", "Token-Limit diese Woche überschritten: 140000 von 131072", ClassQuota},
	{"a limit of this month in German", "Token-Limit für diesen Monat überschritten: 140000 von 131072", ClassQuota},
	{"a limit of a day in Dutch", "Token-limiet per dag overschreden: 140000 van 131072", ClassQuota},
	{"a daily limit in Dutch", "Dagelijkse token-limiet overschreden: 140000 van 131072", ClassQuota},
	{"a limit of a minute in Dutch", "Token-limiet per minuut overschreden: 140000 van 131072", ClassRateLimit},
	{"a limit of a day in French", "Limite de tokens par jour dépassée : 140000 sur 131072", ClassQuota},
	{"a daily limit in French", "Limite quotidienne de tokens dépassée : 140000 sur 131072", ClassQuota},
	{"a limit of a day in Spanish", "Límite de tokens por día superado: 140000 de 131072", ClassQuota},
	{"a daily limit in Spanish", "Límite diario de tokens superado: 140000 de 131072", ClassQuota},
	{"a daily limit in Portuguese", "Limite diário de tokens excedido: 140000 de 131072", ClassQuota},
	{"a daily limit in Italian", "Limite giornaliero di token superato: 140000 su 131072", ClassQuota},
	{"a credential with a hyphen", "refresh-token-limit exceeded for this client", ClassOther},
	{"a credential's length", "CSRF-token-length exceeds 64", ClassOther},
	{"a credential behind a status", "400 Token too long", ClassOther},
	{"a credential behind a code", "Error 4012 token too long", ClassOther},
	{"answer cap in Russian", "Число токенов ответа (100000) превышает максимум (64000)", ClassOther},
	{"answer cap as large as the window", "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (10 in the messages, 8990 in the completion).", ClassOther},
	{"answer cut", "the response exceeded the maximum output length", ClassOther},
	{"Azure's rate limit", "Requests to the ChatCompletions_Create Operation have exceeded token rate limit of your current pricing tier. Please retry after 20 seconds.", ClassRateLimit},
	{"tokens per minute", "tokens per minute limit exceeded: context too long for your tier", ClassRateLimit},
	{"input tokens per minute", "429: exceeded 50,000 input tokens per minute", ClassRateLimit},
	{"tokens per day", "Rate limit reached: tokens per day (TPD): Limit 100000, Used 99000, Requested 5000", ClassQuota},
	{"credits", "Insufficient credits: this prompt is too long for your balance", ClassQuota},
	{"account", "Your account has exceeded its monthly token limit", ClassQuota},
	{"daily", "Daily token limit reached", ClassQuota},
	{"key", "Invalid API key provided", ClassAuth},
	{"access token", "access token is too long", ClassAuth},
	{"permission", `{"error":{"code":403,"message":"forbidden"}}`, ClassAuth},
	{"overloaded", "The model is overloaded, input queue is full", ClassOverloaded},
	{"gateway", "502 Bad Gateway", ClassOverloaded},
	{"timeout", "request timed out while the prompt was too long in the queue", ClassTimeout},
	{"cancelled as text", "prompt is too long: context canceled", ClassOther},
	{"images", "messages.4: image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes", ClassOther},
	{"number of images", "Too many images in request: at most 20 images are allowed", ClassOther},
	{"pages", "A maximum of 100 PDF pages may be provided, input has 120", ClassOther},
	{"tool name", "tools.0.function.name: name is too long, maximum length is 64", ClassOther},
	{"id", "messages[2].tool_call_id exceeds maximum length of 40 characters", ClassOther},
	{"number of tools", "Number of tools exceeds the maximum of 128", ClassOther},
	{"number of messages", "The number of messages exceeds the maximum of 1000", ClassOther},
	{"stop sequences", "stop sequences: at most 4 allowed, input has 5", ClassOther},
	{"too short", "Input should have at least 1 token; max 10", ClassOther},
	{"cache", "Cached content is too small. It must have at least 4096 tokens", ClassOther},
	{"parameter", "temperature must be less than or equal to 2", ClassOther},
	{"model", "The model gpt-99 does not exist", ClassOther},
	{"JSON that does not parse", "unexpected end of JSON input", ClassOther},
	{"a schema too deep", "schema exceeds maximum nesting depth of 5", ClassOther},
	{"echo", `{"error":{"message":"bad role"},"messages":[{"role":"usr","content":"prompt is too long: 5 tokens > 4 maximum"}]}`, ClassOther},
	{"pydantic's echo", `{"detail":[{"msg":"field required","input":{"messages":"maximum context length is 8192 tokens, you requested 9000"}}]}`, ClassOther},
	{"an answer", `{"content":[{"text":"Your input exceeds the context window"}],"stop_reason":"end_turn"}`, ClassOther},
	{"the kernel", "write: argument list too long", ClassOther},
	{"HTTP header", "431 Request Header Fields Too Large", ClassOther},
	{"URL", "414 URI Too Long", ClassOther},
	{"Spanish, no doubt", "No cabe duda de que el contexto es importante", ClassOther},
	{"Spanish, a file", "El archivo no cabe en el disco", ClassOther},
	{"Portuguese, an answer", "A resposta é longa demais", ClassOther},
	{"Portuguese, a name", "O nome da função é longo demais", ClassOther},
	{"German, a file", "Die Datei passt nicht", ClassOther},
	{"a rate with a window", "tokens per minute: 5000 over the 60 second window", ClassRateLimit},
	{"network", "dial tcp: lookup api.example.com: no such host", ClassOther},
	{"content filter", "The prompt was filtered due to the content policy", ClassOther},
	{"what an answer holds", "The response contains 9000 tokens, the model supports 8192 output tokens", ClassOther},
	{"a request that fits", "Your request has 5000 tokens, the model accepts 8192 tokens", ClassOther},
	{"bytes", "413 Payload Too Large", ClassBytes},
	{"bytes of the request", "Request payload size exceeds the limit: 20971520 bytes.", ClassBytes},
	{"megabytes", "request body exceeds the maximum of 32 MB", ClassBytes},
	{"gRPC frame", "rpc error: code = ResourceExhausted desc = trying to send message larger than max (5000000 vs. 4194304)", ClassBytes},
	{"a proxy's page", "<html><head><title>413 Request Entity Too Large</title></head></html>", ClassBytes},
	{"IIS's filter", "HTTP Error 404.13 - Not Found: The request filtering module is configured to deny a request that exceeds the request content length.", ClassBytes},
	{"its page", "<html><head><title>IIS 10.0 Detailed Error - 404.13 - Not Found</title></head></html>", ClassBytes},
	{"IIS's other page", "<html><head><title>IIS 10.0 Detailed Error - 404.0 - Not Found</title></head></html>", ClassOther},
	{"HTTP's name of a length", "request Content-Length 35000000 exceeds 30000000", ClassBytes},
	{"Chinese rate", "请求过于频繁，每分钟 token 数超过限制", ClassRateLimit},
	{"Chinese quota", "您的账户余额不足，token 额度已超出", ClassQuota},
	{"Chinese answer cap", "max_tokens 超过最大输出长度限制 8192", ClassOther},
	{"Korean rate", "분당 토큰 한도를 초과했습니다", ClassRateLimit},
	{"database", "ERROR: row is too big: size 8232, maximum size 8160", ClassOther},
	{"empty", "", ClassOther},
	{"only a status", "400 Bad Request", ClassOther},
}

func TestDiagnoseInventedOthers(t *testing.T) {
	for _, c := range otherTexts {
		if got := classify(errors.New(c.text)); got != (told{Class: c.want}) {
			t.Errorf("%s: got %+v, want %q\n%s", c.why, got, c.want, c.text)
		}
	}
}

// TestDiagnoseConcurrently: one error leaves nothing behind for another, in whatever order they come.
func TestDiagnoseConcurrently(t *testing.T) {
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 200 {
				c := overflowTexts[(i*7+worker)%len(overflowTexts)]
				if got, want := classify(errors.New(c.text)), (told{ClassOverflow, c.tokens, c.limit}); got != want {
					t.Errorf("%s: got %+v, want %+v", c.why, got, want)
				}
				o := otherTexts[(i*5+worker)%len(otherTexts)]
				if got := classify(errors.New(o.text)); got != (told{Class: o.want}) {
					t.Errorf("%s: got %+v", o.why, got)
				}
			}
		})
	}
	group.Wait()
}

// TestDiagnoseInventedFile classifies the texts of testdata/invented.jsonl. Its twenty-three
// parts were each written before the rules had seen them; the reasons say what is new in a text.
func TestDiagnoseInventedFile(t *testing.T) {
	data, err := os.ReadFile("testdata/invented.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var c struct {
			Why, Text     string
			Class         Class
			Status        int
			Tokens, Limit int
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		err := errors.New(c.Text)
		if c.Status != 0 {
			err = &statusErr{c.Status, c.Text}
		}
		if got, want := classify(err), (told{c.Class, c.Tokens, c.Limit}); got != want {
			t.Errorf("%s: got %+v, want %+v\n%s", c.Why, got, want, c.Text)
		}
	}
}
