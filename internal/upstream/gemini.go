package upstream

import (
	"fmt"
	"slices"
	"strings"
)

// Gemini's API has the model and the method in the path:
// /v1beta/models/MODEL:streamGenerateContent.
var geminiDialect = &dialect{
	name:     "gemini",
	messages: "contents",
	before:   []string{"tools", "systemInstruction"},
	callID:   "call",
	blocks:   func(content any) []any { c, _ := content.(object); return list(c["parts"]) },
	tools: func(declared object) (tool, bool) {
		schema, ok := declared["parametersJsonSchema"].(object)
		if !ok {
			schema, _ = declared["parameters"].(object)
		}
		return tool{name: str(declared, "name"), schema: schema}, str(declared, "name") != ""
	},
	refuse: func(_, message string) object { return geminiError(message) },
	overflow: func(used, limit int) object {
		return geminiError(fmt.Sprintf("The input token count (%d) exceeds the maximum number of tokens allowed (%d).", used, limit))
	},
	whole:  geminiWhole,
	stream: geminiStream,
}

func geminiError(message string) object {
	return object{"error": object{"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}
}

// geminiPath splits a path of the API.
func geminiPath(path string) (model, method string, ok bool) {
	rest, ok := strings.CutPrefix(path, "/v1beta/models/")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ":")
}

// geminiRoute returns the kind of request for a path; "": not a path of the API.
func geminiRoute(path string) Kind {
	_, method, _ := geminiPath(path)
	switch method {
	case "generateContent", "streamGenerateContent":
		return Main
	case "countTokens":
		return Count
	}
	return ""
}

// fromPath adds the data of the path to a request.
func (p *prompt) fromPath(path string) {
	if model, method, ok := geminiPath(path); ok {
		p.body["model"] = model
		p.stream = method == "streamGenerateContent"
	}
}

// declarations returns the tools of a request. Gemini's API has them in groups.
func declarations(body object) (out []any) {
	for _, v := range list(body["tools"]) {
		group, _ := v.(object)
		if inner, ok := group["functionDeclarations"]; ok {
			out = append(out, list(inner)...)
		} else {
			out = append(out, v)
		}
	}
	return out
}

// geminiProblem returns the reason why the API would refuse a request: contents that do not begin
// or end with the user, empty parts, results that do not follow their calls.
func geminiProblem(body object) string {
	contents := list(body["contents"])
	if len(contents) == 0 {
		return "GenerateContentRequest.contents: contents is not specified"
	}
	for i, v := range contents {
		c, _ := v.(object)
		role, parts := str(c, "role"), list(c["parts"])
		switch {
		case role != "user" && role != "model":
			return "Please use a valid role: user, model."
		case len(parts) == 0:
			return fmt.Sprintf("GenerateContentRequest.contents[%d].parts: must include at least one parts field", i)
		case i == 0 && role != "user" || i == len(contents)-1 && role != "user":
			return "Please ensure that the conversation begins and ends with a user turn."
		}
		calls, results := idsOf(c, "functionCall"), 0
		if i > 0 {
			before, _ := contents[i-1].(object)
			results = len(idsOf(before, "functionCall"))
		}
		if got := len(idsOf(c, "functionResponse")); got != results {
			return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
		}
		if len(calls) > 0 && role != "model" {
			return "Please ensure that function call turns are of the model."
		}
	}
	return ""
}

// idsOf returns the distinct IDs of the calls or results in a content. Gemini CLI sends results
// twice in a resumed session.
func idsOf(content object, kind string) (out []string) {
	for _, p := range list(content["parts"]) {
		part, _ := p.(object)
		if id := str(part[kind], "id"); part[kind] != nil && (id == "" || !slices.Contains(out, id)) {
			out = append(out, id)
		}
	}
	return out
}

// geminiUserText returns the text of a content unless it is the model's or has results.
func geminiUserText(content object) string {
	if str(content, "role") != "user" || len(idsOf(content, "functionResponse")) > 0 {
		return ""
	}
	var out strings.Builder
	for _, p := range list(content["parts"]) {
		out.WriteString(str(p, "text") + "\n")
	}
	return out.String()
}

func geminiWhole(a *answer) object { return a.geminiChunk(a.geminiParts(), "STOP") }

func (a *answer) geminiParts() (out []any) {
	if a.text != "" {
		out = append(out, object{"text": a.text})
	}
	for _, c := range a.calls {
		out = append(out, object{"functionCall": object{"id": c.id, "name": c.tool.name, "args": c.args}})
	}
	return out
}

func (a *answer) geminiChunk(parts []any, finish string) object {
	u := a.usage
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	return object{
		"candidates": []any{candidate}, "modelVersion": str(a.body, "model"), "responseId": a.id,
		"usageMetadata": object{
			"promptTokenCount": u.input, "candidatesTokenCount": u.output,
			"totalTokenCount": u.input + u.output, "cachedContentTokenCount": u.read,
		},
	}
}

func geminiStream(a *answer, w *events) {
	parts := a.geminiParts()
	for i, part := range parts {
		finish := ""
		if i == len(parts)-1 {
			finish = "STOP"
		}
		w.send("", a.geminiChunk([]any{part}, finish))
	}
}
