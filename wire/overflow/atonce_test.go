package overflow

import "testing"

// tooMuchAtOnce are limits over time that one request alone is above.
var tooMuchAtOnce = []text{
	{"openai rate", 429, `{"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 342389. The input or output tokens must be reduced in order to run successfully.","type":"tokens","code":"rate_limit_exceeded"}}`, 30000, 0},
	{"the same in a stream", 200, `{"error":{"message":"Request too large for gpt-4o in organization org-z on tokens per min (TPM): Limit 30000, Requested 132819. The input or output tokens must be reduced in order to run successfully. Visit https://platform.openai.com/account/rate-limits to learn more."}}`, 30000, 0},
	{"groq rate", 413, "{\"error\":{\"message\":\"Request too large for model `llama-3.3-70b-versatile` in organization `org_01` service tier `on_demand` on tokens per minute (TPM): Limit 12000, Requested 14137, please reduce your message size and try again. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing\",\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}", 12000, 0},
	{"groq free", 413, "{\"error\":{\"message\":\"Request too large for model `openai/gpt-oss-120b` in organization `org_x` service tier `on_demand` on tokens per minute (TPM): Limit 8000, Requested 9052, please reduce your message size and try again.\",\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}", 8000, 0},
	{"openai with what was used", 429, `{"error":{"message":"Request too large for gpt-4: Limit 10,000, Used 0, Requested 12,144.","type":"tokens"}}`, 10000, 0},
	{"azure", 429, `{"error":{"code":"429","message":"Requested 41214 tokens exceeds the limit of 10000 tokens per minute of this deployment."}}`, 10000, 0},
	{"in words", 429, `{"error":{"message":"Your request has 41214 tokens, but the limit is 10000 tokens per minute."}}`, 10000, 0},
	{"without numbers", 429, `{"error":{"message":"Request too large for gpt-4o. The input or output tokens must be reduced in order to run successfully."}}`, 0, 0},
	{"anthropic long context", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"Extra usage is required for long context requests."}}`, 0, 0},
	{"anthropic long context", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"Extra usage is required for long context requests. Your credit balance is used up."}}`, 0, 0},
}

// TestALimitThatWaitingCannotMeet: a request above a limit over time is to be smaller.
func TestALimitThatWaitingCannotMeet(t *testing.T) {
	for _, c := range tooMuchAtOnce {
		if o, is := Classify(c.status, []byte(c.body)); !is || o != (Overflow{Limit: c.limit}) {
			t.Errorf("%s: %v %+v\n%s", c.provider, is, o, c.body)
		}
	}
}

// TestALimitThatWaitingMeets: what is used up for now is none.
func TestALimitThatWaitingMeets(t *testing.T) {
	for _, body := range []string{
		`{"error":{"message":"Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 28000, Requested 4000. Please try again in 4s.","type":"tokens"}}`,
		`{"error":{"message":"Rate limit reached for model in organization org on tokens per day (TPD): Limit 100000, Used 99500, Requested 3000. Please try again in 36m."}}`,
		`{"error":{"message":"Request too large to be retried now, please wait"}}`,
		`{"error":{"message":"Limit 5, Requested 6 requests in parallel of your limit: 5 requested: 4"}}`,
		`{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 64000 tokens, but can only afford 5190. To increase, visit https://openrouter.ai/settings/credits"}}`,
		`{"error":{"message":"You have used 41214 tokens this minute, but the limit is 10000 tokens per minute."}}`,
		`{"error":{"message":"The limit of 30000 tokens per minute is reached"}}`,
	} {
		for _, status := range []int{429, 402, 413, 400, 200} {
			if o, is := Classify(status, []byte(body)); is && status != 413 {
				t.Errorf("%d is an overflow %+v: %s", status, o, body)
			}
		}
	}
}
