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

// streamedError returns the error object that a stream held in place of an
// event; nil when err is of another type.
func streamedError(err error) []byte {
	var streamErr *ssestream.StreamError
	if errors.As(err, &streamErr) {
		return streamErr.Event.Data
	}
	return nil
}
