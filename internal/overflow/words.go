package overflow

import (
	"strings"
	"sync"
)

// words are the dictionary: the words of the refusals of some eighty providers, gateways and servers, and their
// synonyms, with the roles that each can play. Scripts without spaces have their own lists in wide.go.
var words = [...]struct {
	role role
	list string
}{
	{rInput, `prompt prompts input inputs messages conversation conversations history transcript question query dialog
		dialogue chat`},
	{rInput | rMessage, "message"},
	{rInput | rToken, "input_ids"},
	{rRequest, "request requests payload body entity"},
	{rToken, "token tokens tokencount tokenlimit"},
	{rContext, "context contexts ctx"},
	{rContext | rCapacity | rMax, `contextwindow contextlength n_ctx max_model_len num_ctx n_ctx_train ctx_size
		session_len max_seq_len max_position_embeddings truncation_length`},
	{rField, "array arrays"},
	{rCapacity, "capacity window size budget space"},
	{rCapacity | rLength, "length len"},
	{rLength, "count number quantity"},
	{rCapacity | rMax, "limit limits ceiling threshold cap maxlength"},
	{rMax, "maximum max maximal allowed permitted allowable limited capped maximum_length upper supported"},
	{rOver, `exceed exceeds exceeded exceeding overflow overflows overflowed overflowing surpass surpasses surpassed
		beyond oversized oversize breached breaches overlong overrun outgrew outgrown`},
	{rToo, "too"},
	{rBig, "long large big many high lengthy huge"},
	{rMore, "longer larger bigger greater more higher"},
	{rLess, "less fewer most smaller under below"},
	{rThan, "than"},
	{rOutput | rOutParam, `max_tokens max_completion_tokens max_new_tokens max_output_tokens maxtokens maxoutputtokens
		budget_tokens max_tokens_to_sample num_predict n_predict maxcompletiontokens`},
	{rOutput, `output outputs completion completions response responses generation generated answer reply prediction
		reasoning thinking reserve reserved`},
	{rReduce, `reduce shorten decrease trim truncate shrink compress compact shorter reducing reduced shortening
		reduce_the`},
	{rFull, "exhausted full fit fits exhausts occupy occupies reached hit room overfull fill fills filled"},
	{rMust, "must should cannot can expected only support up range"},
	{rMust | rHolds, "supports"},
	{rHolds, "hold holds take reads process handle handles accepts allows permits serves processes accepted served"},
	{rLeft, "left leaves leaving remaining remain remains available free unused spare"},
	{rBytes, "byte bytes mb mib kb kib gb gib megabytes kilobytes octets"},
	{rChars, "character characters char chars"},
	{rMedia, `image images pixels pixel dimension dimensions audio video videos pdf page pages file files document
		documents attachment attachments encoder mime media upload picture frames`},
	{rField, `id ids call_id tool_call_id tool_use_id name names pattern description descriptions enum items elements
		item packet packets expiry age retries redirects depth attempts iterations email password metadata schema
		properties function functions temperature top_p top_k cache cached caching stop encrypted_content blocks
		cache_control title header headers url filename path key tool_use tool_result varying label logit_bias seed queue
		tls handshake cookie cookies`},
	{rActual, `asked has have had contains contain contained got given received supplied requested resulted passed sent
		actual current currently provided used totals total first estimated found was counted need needs require requires
		takes uses sum`},
	{rRate, `tpm rpm rps throttled throttling throttle ratelimit ratelimited ratelimiterror ratelimitexceeded qps qpm
		concurrency concurrent burst cooldown`},
	{rPer, "per each"},
	{rTime, "minute minutes min second seconds hour hours sec 60s 1m 1h hourly"},
	{rDay, "day days month week daily monthly weekly tpd rpd today todays"},
	{rMemory, "memory vram"},
	{rQuota, `quota quotas billing credit credits balance afford payment spend spending prepaid insufficient_quota
		allowance allotment arrears arrearage overdue recharge topup wallet`},
	{rSkip, "the a an of for to is are be this your you that models model in its our and"},
}

// dictionary holds the words with their roles. It is made at the first error: most programs meet none.
var dictionary = sync.OnceValue(func() map[string]role {
	all := make(map[string]role, 512)
	for _, w := range words {
		for word := range strings.FieldsSeq(w.list) {
			all[word] = w.role
		}
	}
	return all
})

// roleOf looks a word up in the dictionary.
func roleOf(w string) role { return dictionary()[w] }
