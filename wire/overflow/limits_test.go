package overflow

import "testing"

// Errors as the providers word them.
func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		status   int
		body     string
		images   bool
		messages int
	}{
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.4.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels"}}`, true, 0},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.2.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels"}}`, true, 0},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6710886 bytes > 5242880 bytes"}}`, true, 0},
		{400, `{"type":"error","error":{"message":"Too many images and documents: 101 + 0 > 100"}}`, true, 0},
		{400, `{"type":"error","error":{"message":"A maximum of 100 PDF pages may be provided."}}`, true, 0},
		{400, `{"error":{"message":"Too many images in request: 501. Max is 500.","type":"invalid_request_error"}}`, true, 0},
		{400, `{"error":{"message":"At most 5 image(s) may be provided in one request.","type":"BadRequestError","code":400}}`, true, 0},
		{400, `{"error":{"code":400,"message":"Request contains more images than the limit of 3000","status":"INVALID_ARGUMENT"}}`, true, 0},
		{400, `{"error":{"message":"Invalid 'messages': array too long. Expected an array with maximum length 2048, but got an array with length 2053 instead.","type":"invalid_request_error","param":"messages","code":"array_above_max_length"}}`, false, 2048},
		{400, `{"error":{"message":"Invalid 'input': array too long. Expected an array with maximum length 5000, but got an array with length 5001 instead."}}`, false, 5000},
		{400, `{"error":{"message":"messages: at most 1000 messages are allowed"}}`, false, 1000},
		{400, `{"error":{"message":"too many messages: 101 > 100"}}`, false, 100},
		{400, `{"error":{"message":"Too many messages in the request (2049). The maximum is 2048."}}`, false, 2048},
		{400, `{"error":{"message":"Number of messages 2049 exceeds the limit: 2048"}}`, false, 2048},
		{400, `{"error":{"message":"A request may have up to 500 messages"}}`, false, 500},
		{422, `{"detail":[{"type":"too_long","loc":["body","messages"],"msg":"List should have at most 100 items after validation, not 101","ctx":{"field_type":"List","max_length":100,"actual_length":101}}]}`, false, 100},
		{422, `{"detail":[{"type":"too_long","loc":["body","tools"],"msg":"List should have at most 100 items after validation, not 101"}]}`, false, 0},
		{400, `{"error":{"message":"At most 2 audio(s) may be provided in one prompt."}}`, true, 0},
		{400, `{"error":{"message":"At most 1 video(s) may be provided in one prompt. Set --limit-mm-per-prompt to increase this limit."}}`, true, 0},
		{400, `{"error":{"message":"Too many files in request: the maximum number of files is 5"}}`, true, 0},
		{422, `{"detail":[{"loc":["body","messages"],"msg":"ensure the list messages has at most 100 items"}]}`, false, 100},
		{400, `{"error":{"message":"Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 200 instead."}}`, false, 0},
		{400, `{"error":{"message":"Could not process image"}}`, false, 0},
		{400, `{"error":{"message":"The image data you provided does not represent a valid image. Please check your input."}}`, false, 0},
		{400, `{"error":{"message":"unsupported image format; the maximum is described in the docs"}}`, false, 0},
		{429, `{"error":{"message":"Rate limit reached for images per minute: limit 5"}}`, false, 0},
		{500, `{"error":{"message":"too many images"}}`, false, 0},
		{400, `{"error":{"message":"max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens"}}`, false, 0},
		{400, `not JSON: too many images, the maximum is 20`, true, 0},
		{400, ``, false, 0},
	} {
		e, ok := Limits(tt.status, []byte(tt.body))
		if e.Images != tt.images || e.Messages != tt.messages || ok != (tt.images || tt.messages > 0) {
			t.Errorf("%d %s: %+v, %v", tt.status, tt.body, e, ok)
		}
	}
}
