package upstream

import "strings"

// KindOf returns the purpose of a request to a path; "": it is not for a model.
func KindOf(path string, body []byte) Kind {
	d, kind := route(path)
	if d == nil {
		return ""
	}
	p, err := parse(d, body)
	if err != nil || kind != Main {
		return kind
	}
	_, reads := reader(p.tools)
	return p.kind(placeOf(body), reads)
}

// route returns the dialect of a path and the kind of its requests; nil: unknown path.
func route(path string) (*dialect, Kind) {
	switch strings.TrimPrefix(path, "/v1") {
	case "/messages":
		return anthropicDialect, Main
	case "/messages/count_tokens":
		return anthropicDialect, Count
	case "/chat/completions":
		return chatDialect, Main
	case "/responses":
		return responsesDialect, Main
	case "/responses/compact":
		return responsesDialect, Compact
	}
	if kind := geminiRoute(path); kind != "" {
		return geminiDialect, kind
	}
	return nil, ""
}
