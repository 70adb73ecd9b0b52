package control

import (
	"context"
	"net/http"
	"time"

	"github.com/precis-dev/precis"
	"github.com/precis-dev/precis/conversation"
	"github.com/precis-dev/precis/conversation/ledger"
	"github.com/precis-dev/precis/gateway"
	"github.com/precis-dev/precis/gateway/profiles"
	"github.com/precis-dev/precis/gateway/windows"
	"github.com/precis-dev/precis/policy"
	"github.com/precis-dev/precis/store"
)

// route is one operation of the API.
type route struct {
	method string
	path   string // after Prefix
	name   string // its operationId
	query  []string
	admin  bool // only for callers who may see all owners' conversations
	in     any  // an example of the body; nil: no body
	out    any  // an example of the answer; nil: see openapi.json
	do     func(*call) (any, error)
	raw    func(*call) // writes the answer itself
	open   bool        // the body may have other fields: those belong to a model API
	made   bool        // it creates a resource: status 201
}

func (rt route) status() int {
	if rt.made {
		return http.StatusCreated
	}
	return http.StatusOK
}

// forConversation makes an operation from a verb for the conversation in the path.
func forConversation[T any](verb func(context.Context, conversation.Home,
	string) (T, error)) func(*call) (any, error) {
	return func(c *call) (any, error) { return verb(c.r.Context(), c.home(), c.id()) }
}

// withBody makes an operation that takes the request's body; without a body, its zero value.
func withBody[In any](do func(*call, In) (any, error)) func(*call) (any, error) {
	return func(c *call) (any, error) {
		var in In
		if err := c.body(&in); err != nil {
			return nil, err
		}
		return do(c, in)
	}
}

const one = "/conversations/{id}"

var listQuery = []string{"text", "since", "before", "limit", "cursor"}

var routes = []route{
	{method: "GET", path: "/status", name: "getStatus", out: status{}, do: getStatus},
	{method: "GET", path: "/windows", name: "listWindows", out: windowList{}, do: listWindows},
	{method: "POST", path: "/windows/forget", name: "forgetWindows", in: forgetWindowsBody{},
		out: forgottenWindows{}, do: withBody(forgetWindows)},
	{method: "GET", path: "/profiles", name: "listProfiles", out: profiles.List{}, do: listProfiles},
	{method: "GET", path: "/settings", name: "getSettings", query: []string{"profile"},
		out: profiles.Settings{}, do: getSettings},
	{method: "PATCH", path: "/settings", name: "patchSettings", query: []string{"profile"}, admin: true,
		in: settingsPatch{}, out: profiles.Settings{}, do: withBody(patchSettings)},
	{method: "GET", path: "/conversations", name: "listConversations", query: listQuery,
		out: conversation.Page[conversation.ListItem]{}, do: listConversations},
	{method: "GET", path: one, name: "getConversation", out: conversation.Details{},
		do: forConversation(conversation.Status)},
	{method: "GET", path: one + "/messages", name: "listMessages",
		query: []string{"from", "limit", "cursor", "state"}, out: conversation.MessageList{},
		do: listMessages},
	{method: "GET", path: one + "/messages/{handle}", name: "showMessages", out: conversation.Originals{},
		do: showMessages},
	{method: "GET", path: one + "/view", name: "getView", out: conversation.ViewInfo{},
		do: forConversation(conversation.View)},
	{method: "GET", path: one + "/view/{dialect}", name: "getDialectView", out: conversation.DialectView{},
		do: getDialectView},
	{method: "GET", path: one + "/edits", name: "listEdits", out: conversation.EditList{},
		do: forConversation(conversation.Edits)},
	{method: "GET", path: one + "/edits/{edit}", name: "getEdit", out: conversation.EditInfo{}, do: getEdit},
	{method: "GET", path: one + "/loss", name: "getLoss", out: conversation.LossReport{},
		do: forConversation(conversation.Loss)},
	{method: "GET", path: one + "/composition", name: "getComposition", out: conversation.Composition{},
		do: forConversation(composition)},
	{method: "GET", path: one + "/state", name: "getWork", out: conversation.WorkState{},
		do: forConversation(conversation.Work)},
	{method: "GET", path: one + "/verify", name: "getVerification", query: []string{"view"},
		out: conversation.Verified{}, do: verifyView},
	{method: "POST", path: one + "/verify", name: "verify", in: verifyBody{}, out: conversation.Verified{},
		do: withBody(verify)},
	{method: "POST", path: one + "/condense", name: "condense", in: condensing{},
		out: conversation.Condensed{}, do: withBody(condense)},
	{method: "POST", path: one + "/preview", name: "preview", in: condensing{}, out: conversation.Condensed{},
		do: withBody(preview)},
	{method: "POST", path: one + "/draft", name: "draft", in: condensing{}, out: conversation.Draft{},
		do: withBody(draft)},
	{method: "POST", path: one + "/apply", name: "applyDraft", in: applying{}, out: conversation.Condensed{},
		do: withBody(applyDraft)},
	{method: "POST", path: one + "/undo", name: "undo", in: undoing{}, out: conversation.Change{},
		do: withBody(undo)},
	{method: "POST", path: one + "/pin", name: "pin", in: pinning{}, out: conversation.Change{},
		do: withBody(pin)},
	{method: "POST", path: one + "/restore", name: "restore", in: restoring{}, out: conversation.Change{},
		do: withBody(restore)},
	{method: "POST", path: one + "/exclude", name: "exclude", in: excluding{}, out: conversation.Change{},
		do: withBody(exclude)},
	{method: "POST", path: one + "/reword", name: "reword", in: rewording{}, out: conversation.Change{},
		do: withBody(reword)},
	{method: "POST", path: one + "/rewind", name: "rewind", in: upTo{}, out: conversation.Change{},
		do: withBody(rewind)},
	{method: "POST", path: one + "/branch", name: "branch", in: upTo{}, out: store.Record{},
		do: withBody(branch), made: true},
	{method: "GET", path: one + "/hold", name: "getHold", out: conversation.Holding{},
		do: forConversation(conversation.HoldingOf)},
	{method: "POST", path: one + "/hold", name: "hold", in: holdBody{}, out: conversation.Holding{},
		do: withBody(hold)},
	{method: "POST", path: one + "/let-go", name: "letGo", in: sendHeldBody{}, out: conversation.Holding{},
		do: withBody(sendHeld)},
	{method: "GET", path: "/search", name: "search", query: []string{"q", "conversation", "limit", "exact"},
		out: conversation.SearchResults{}, do: search},
	{method: "POST", path: "/purge", name: "purge", in: purging{}, out: store.PurgeResult{},
		do: withBody(purge)},
	{method: "GET", path: "/ledger", name: "getLedger", query: []string{"conversation", "since"},
		out: ledger.Summary{}, do: getLedger},
	{method: "POST", path: "/assemble", name: "assemble", in: assembleBody{}, out: assembled{},
		raw: engine(assemble), open: true},
	{method: "POST", path: "/compact", name: "compact", in: compactBody{}, out: conversation.Summarized{},
		raw: engine(compact), open: true},
	{method: "POST", path: "/gate", name: "gate", in: gateBody{}, out: conversation.Gated{},
		raw: engine(gate), open: true},
	{method: "POST", path: "/digest", name: "digest", in: digestBody{}, out: conversation.Digested{},
		raw: engine(writeDigest), open: true},
	{method: "POST", path: "/expand", name: "expand", in: expandBody{}, out: conversation.TextPiece{},
		raw: engine(expand), open: true},
	{method: "GET", path: "/events", name: "listenEvents", raw: (*call).events},
	{method: "GET", path: "/openapi.json", name: "getOpenAPI",
		do: func(*call) (any, error) { return readOpenAPI() }},
}

// status is an overview of the gateway.
type status struct {
	gateway.Status
	Started time.Time `json:"started"`
	Uptime  float64   `json:"uptime_seconds"`
	Admin   bool      `json:"admin"` // the caller sees all owners' conversations
}

// windowList lists known windows.
type windowList struct {
	Items []windows.Entry `json:"items"`
}

// forgetWindowsBody selects windows to forget.
type forgetWindowsBody struct {
	Upstream string `json:"upstream,omitempty"` // "": all
	Model    string `json:"model,omitempty"`    // "": all
}

type forgottenWindows struct {
	Forgotten int `json:"forgotten"`
}

// settingsPatch is a change of settings.
type settingsPatch struct {
	profiles.Patch
	Persist bool `json:"persist,omitempty"` // also write the resulting settings to the configuration file
}

// verifyBody holds a summary to verify against a conversation.
type verifyBody struct {
	Summary string `json:"summary"`
}

// condensing is the body of a request for a condensation.
type condensing struct {
	Focus string `json:"focus,omitempty"` // topic that a summary should focus on
	// size to reduce to: tokens from 1,000 on, or a text such as "20%" or "20k"; 0: by the settings
	Target     policy.Target `json:"target_tokens,omitzero"`
	From       int           `json:"from,omitempty"`       // first message of the span …
	To         int           `json:"to,omitempty"`         // … and the message after it; 0: all
	Summarizer string        `json:"summarizer,omitempty"` // "model" or "digest"; "": by the settings
	Profile    string        `json:"profile,omitempty"`    // selects the settings; "": the default ones
	Force      bool          `json:"force,omitempty"`      // even if content would be lost entirely
}

// options returns the options for a condensation requested by a user.
func (in condensing) options() conversation.CondenseOptions {
	return conversation.CondenseOptions{Focus: in.Focus, Target: in.Target.Tokens, Share: in.Target.Share,
		Summarizer: in.Summarizer, Profile: in.Profile, From: in.From, To: in.To, Force: in.Force}
}

// applying puts a draft in force.
type applying struct {
	Draft string            `json:"draft"`
	Texts map[string]string `json:"texts,omitempty"` // replacement texts, by the IDs of its edits
	Force bool              `json:"force,omitempty"` // even if content would be lost entirely
}

// undoing selects edits to undo.
type undoing struct {
	Edits []string `json:"edits,omitempty"` // empty: the last run
}

// pinning selects content to pin.
type pinning struct {
	Handles []precis.Handle `json:"handles"`
}

// restoring selects hidden content to show again.
type restoring struct {
	Handle precis.Handle `json:"handle"`
}

// excluding selects whole messages to hide.
type excluding struct {
	Handle precis.Handle `json:"handle"`
	Force  bool          `json:"force,omitempty"` // even if content would be lost entirely
}

// rewording replaces the text of a summary.
type rewording struct {
	Edit  string `json:"edit"` // the edit that shows the summary
	Text  string `json:"text"`
	Force bool   `json:"force,omitempty"` // even if content would be lost entirely
}

// holdBody holds the next request.
type holdBody struct {
	Seconds int `json:"seconds,omitempty"` // longest wait; 0: two minutes
}

// sendHeldBody sends a held request.
type sendHeldBody struct {
	Again bool `json:"again,omitempty"` // also hold the request after it
}

// upTo is a position in a conversation.
type upTo struct {
	Messages *int `json:"messages"` // only this many of the first messages
}

// purging selects conversations to forget, by exactly one field.
type purging struct {
	IDs    []string  `json:"ids,omitempty"`
	Before time.Time `json:"before,omitzero"` // last updated before
	All    bool      `json:"all,omitempty"`
}

// The documented bodies of the engine's operations: the fields of a model API plus the engine's
// own.
type (
	assembleBody struct {
		messages
		assembling
	}
	compactBody struct {
		messages
		compacting
	}
	gateBody struct {
		messages
		gating
	}
	digestBody struct {
		messages
		digesting
	}
	expandBody struct {
		messages
		expanding
	}
)
