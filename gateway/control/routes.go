package control

import (
	"encoding/json"
	"net/http"
	"time"

	"precis"
	"precis/gateway"
)

// route is one operation of the API.
type route struct {
	method string
	path   string // after Prefix
	name   string // its operationId
	query  []string
	admin  bool // only for who may see everybody's conversations
	in     any  // an example of the body; nil: there is none
	out    any  // an example of the answer; nil: see openapi.json
	do     func(*call) (any, error)
	raw    func(*call) // writes the answer itself
	made   bool        // it makes something: 201
}

func (rt route) status() int {
	if rt.made {
		return http.StatusCreated
	}
	return http.StatusOK
}

const one = "/conversations/{id}"

var listQuery = []string{"text", "since", "before", "limit", "cursor"}

var routes = []route{
	{method: "GET", path: "/status", name: "getStatus", out: status{}, do: (*call).status},
	{method: "GET", path: "/profiles", name: "listProfiles", out: gateway.ProfileList{}, do: (*call).profiles},
	{method: "GET", path: "/settings", name: "getSettings", query: []string{"profile"}, out: gateway.Settings{}, do: (*call).getSettings},
	{method: "PATCH", path: "/settings", name: "patchSettings", query: []string{"profile"}, admin: true, in: gateway.SettingsPatch{}, out: gateway.Settings{}, do: (*call).patchSettings},
	{method: "GET", path: "/conversations", name: "listConversations", query: listQuery, out: gateway.Page[gateway.Listed]{}, do: (*call).list},
	{method: "GET", path: one, name: "getConversation", out: gateway.Details{}, do: (*call).get},
	{method: "GET", path: one + "/messages", name: "listMessages", query: []string{"from", "limit", "cursor", "state"}, out: gateway.Messages{}, do: (*call).messages},
	{method: "GET", path: one + "/messages/{handle}", name: "showMessages", out: gateway.Shown{}, do: (*call).show},
	{method: "GET", path: one + "/view", name: "getView", out: gateway.ViewInfo{}, do: (*call).view},
	{method: "GET", path: one + "/view/{dialect}", name: "getDialectView", out: gateway.DialectView{}, do: (*call).dialectView},
	{method: "GET", path: one + "/edits", name: "listEdits", out: gateway.EditList{}, do: (*call).edits},
	{method: "GET", path: one + "/edits/{edit}", name: "getEdit", out: gateway.EditInfo{}, do: (*call).edit},
	{method: "GET", path: one + "/loss", name: "getLoss", out: gateway.Loss{}, do: (*call).loss},
	{method: "POST", path: one + "/condense", name: "condense", in: condensing{}, out: gateway.Condensed{}, do: (*call).condense},
	{method: "POST", path: one + "/preview", name: "preview", in: condensing{}, out: gateway.Condensed{}, do: (*call).preview},
	{method: "POST", path: one + "/undo", name: "undo", in: undoing{}, out: gateway.Change{}, do: (*call).undo},
	{method: "POST", path: one + "/pin", name: "pin", in: pinning{}, out: gateway.Change{}, do: (*call).pin},
	{method: "POST", path: one + "/restore", name: "restore", in: restoring{}, out: gateway.Change{}, do: (*call).restore},
	{method: "POST", path: one + "/rewind", name: "rewind", in: upTo{}, out: gateway.Change{}, do: (*call).rewind},
	{method: "POST", path: one + "/branch", name: "branch", in: upTo{}, out: precis.ConversationRecord{}, do: (*call).branch, made: true},
	{method: "GET", path: "/search", name: "search", query: []string{"q", "conversation", "limit"}, out: gateway.FoundList{}, do: (*call).search},
	{method: "POST", path: "/purge", name: "purge", in: purging{}, out: precis.PurgeResult{}, do: (*call).purge},
	{method: "GET", path: "/ledger", name: "getLedger", query: []string{"conversation", "since"}, out: gateway.LedgerSummary{}, do: (*call).ledger},
	{method: "GET", path: "/events", name: "listenEvents", raw: (*call).events},
	{method: "GET", path: "/openapi.json", name: "getOpenAPI", do: func(*call) (any, error) { return json.RawMessage(openapi), nil }},
}

// status is the gateway at a glance.
type status struct {
	gateway.Status
	Started time.Time `json:"started"`
	Uptime  float64   `json:"uptime_seconds"`
	Admin   bool      `json:"admin"` // the caller sees everybody's conversations
}

// condensing asks for a condensation.
type condensing struct {
	Focus      string `json:"focus,omitempty"`         // what a summary should pay attention to
	Target     int    `json:"target_tokens,omitempty"` // tokens to come down to; 0: by the settings
	Summarizer string `json:"summarizer,omitempty"`    // "model" or "digest"; "": as the settings say
	Profile    string `json:"profile,omitempty"`       // whose settings to use; "": the default one
}

// undoing names edits.
type undoing struct {
	Edits []string `json:"edits,omitempty"` // none: the last run
}

// pinning names what is important.
type pinning struct {
	Handles []precis.Handle `json:"handles"`
}

// restoring names what is to be shown again.
type restoring struct {
	Handle precis.Handle `json:"handle"`
}

// upTo is a place in a conversation.
type upTo struct {
	Messages *int `json:"messages"` // the first so many
}

// purging says what is to be forgotten: one of the three.
type purging struct {
	IDs    []string  `json:"ids,omitempty"`
	Before time.Time `json:"before,omitzero"` // what was last updated before
	All    bool      `json:"all,omitempty"`
}
