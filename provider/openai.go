package provider

import (
	"errors"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
)

// openaiOptions configure a service without the SDK's client, which reads keys
// and URLs from the environment.
func openaiOptions(c Config) []option.RequestOption {
	options := []option.RequestOption{
		option.WithBaseURL(c.BaseURL),
		option.WithHTTPClient(c.HTTPClient),
		option.WithMaxRetries(0),
	}
	if c.Key != "" {
		options = append(options, option.WithAPIKey(c.Key))
	}
	return options
}

// toldInStream returns the error object that a stream held instead of an event;
// nil when err is something else.
func toldInStream(err error) []byte {
	var told *ssestream.StreamError
	if errors.As(err, &told) {
		return told.Event.Data
	}
	return nil
}
