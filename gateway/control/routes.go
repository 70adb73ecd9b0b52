package control

import (
	"context"
	"net/http"
	"time"

	"precis"
	"precis/conversation"
	"precis/gateway"
	"precis/store"
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
	open   bool        // the body has the fields of a model API, too
	made   bool        // it makes something: 201
}

func (rt route) status() int {
	if rt.made {
		return http.StatusCreated
	}
	return http.StatusOK
}

// about is an operation on the conversation that the path names.
func about[T any](verb func(context.Context, conversation.Home, string) (T, error)) func(*call) (any, error) {
	return func(c *call) (any, error) { return verb(c.r.Context(), c.home(), c.id()) }
}

// posted is an operation that takes the request's body; without a body, its zero
// value.
func posted[In any](do func(*call, In) (any, error)) func(*call) (any, error) {
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
	{method: "POST", path: "/windows/forget", name: "forgetWindows", in: forgetting{}, out: forgotten{}, do: posted(forgetWindows)},
	{method: "GET", path: "/profiles", name: "listProfiles", out: gateway.ProfileList{}, do: listProfiles},
	{method: "GET", path: "/settings", name: "getSettings", query: []string{"profile"}, out: gateway.Settings{}, do: getSettings},
	{method: "PATCH", path: "/settings", name: "patchSettings", query: []string{"profile"}, admin: true, in: settingsPatch{}, out: gateway.Settings{}, do: posted(patchSettings)},
	{method: "GET", path: "/conversations", name: "listConversations", query: listQuery, out: conversation.Page[conversation.Listed]{}, do: listConversations},
	{method: "GET", path: one, name: "getConversation", out: conversation.Details{}, do: about(conversation.Status)},
	{method: "GET", path: one + "/messages", name: "listMessages", query: []string{"from", "limit", "cursor", "state"}, out: conversation.MessageList{}, do: listMessages},
	{method: "GET", path: one + "/messages/{handle}", name: "showMessages", out: conversation.Originals{}, do: showMessages},
	{method: "GET", path: one + "/view", name: "getView", out: conversation.ViewInfo{}, do: about(conversation.View)},
	{method: "GET", path: one + "/view/{dialect}", name: "getDialectView", out: conversation.DialectView{}, do: getDialectView},
	{method: "GET", path: one + "/edits", name: "listEdits", out: conversation.EditList{}, do: about(conversation.Edits)},
	{method: "GET", path: one + "/edits/{edit}", name: "getEdit", out: conversation.EditInfo{}, do: getEdit},
	{method: "GET", path: one + "/loss", name: "getLoss", out: conversation.Lost{}, do: about(conversation.Loss)},
	{method: "GET", path: one + "/composition", name: "getComposition", out: conversation.Composition{}, do: about(composition)},
	{method: "GET", path: one + "/state", name: "getWork", out: conversation.WorkState{}, do: about(conversation.Work)},
	{method: "GET", path: one + "/verify", name: "getVerification", query: []string{"view"}, out: conversation.Verified{}, do: verifyView},
	{method: "POST", path: one + "/verify", name: "verify", in: verifying{}, out: conversation.Verified{}, do: posted(verify)},
	{method: "POST", path: one + "/condense", name: "condense", in: condensing{}, out: conversation.Condensed{}, do: posted(condense)},
	{method: "POST", path: one + "/preview", name: "preview", in: condensing{}, out: conversation.Condensed{}, do: posted(preview)},
	{method: "POST", path: one + "/draft", name: "draft", in: condensing{}, out: conversation.Draft{}, do: posted(draft)},
	{method: "POST", path: one + "/apply", name: "applyDraft", in: applying{}, out: conversation.Condensed{}, do: posted(applyDraft)},
	{method: "POST", path: one + "/undo", name: "undo", in: undoing{}, out: conversation.Change{}, do: posted(undo)},
	{method: "POST", path: one + "/pin", name: "pin", in: pinning{}, out: conversation.Change{}, do: posted(pin)},
	{method: "POST", path: one + "/restore", name: "restore", in: restoring{}, out: conversation.Change{}, do: posted(restore)},
	{method: "POST", path: one + "/exclude", name: "exclude", in: excluding{}, out: conversation.Change{}, do: posted(exclude)},
	{method: "POST", path: one + "/reword", name: "reword", in: rewording{}, out: conversation.Change{}, do: posted(reword)},
	{method: "POST", path: one + "/rewind", name: "rewind", in: upTo{}, out: conversation.Change{}, do: posted(rewind)},
	{method: "POST", path: one + "/branch", name: "branch", in: upTo{}, out: store.Record{}, do: posted(branch), made: true},
	{method: "GET", path: one + "/hold", name: "getHold", out: conversation.Holding{}, do: about(conversation.HoldingOf)},
	{method: "POST", path: one + "/hold", name: "hold", in: ordering{}, out: conversation.Holding{}, do: posted(hold)},
	{method: "POST", path: one + "/let-go", name: "letGo", in: lettingGo{}, out: conversation.Holding{}, do: posted(letGo)},
	{method: "GET", path: "/search", name: "search", query: []string{"q", "conversation", "limit", "exact"}, out: conversation.FoundList{}, do: search},
	{method: "POST", path: "/purge", name: "purge", in: purging{}, out: store.PurgeResult{}, do: posted(purge)},
	{method: "GET", path: "/ledger", name: "getLedger", query: []string{"conversation", "since"}, out: conversation.LedgerSummary{}, do: getLedger},
	{method: "POST", path: "/assemble", name: "assemble", in: assembleBody{}, out: assembled{}, raw: engine(assemble), open: true},
	{method: "POST", path: "/compact", name: "compact", in: compactBody{}, out: conversation.Summarized{}, raw: engine(compact), open: true},
	{method: "POST", path: "/gate", name: "gate", in: gateBody{}, out: conversation.Gated{}, raw: engine(gate), open: true},
	{method: "POST", path: "/digest", name: "digest", in: digestBody{}, out: conversation.Digested{}, raw: engine(writeDigest), open: true},
	{method: "POST", path: "/expand", name: "expand", in: expandBody{}, out: conversation.Reading{}, raw: engine(expand), open: true},
	{method: "GET", path: "/events", name: "listenEvents", raw: (*call).events},
	{method: "GET", path: "/openapi.json", name: "getOpenAPI", do: func(*call) (any, error) { return readOpenAPI() }},
}

// status is the gateway at a glance.
type status struct {
	gateway.Status
	Started time.Time `json:"started"`
	Uptime  float64   `json:"uptime_seconds"`
	Admin   bool      `json:"admin"` // the caller sees everybody's conversations
}

// windowList lists what is known of windows.
type windowList struct {
	Items []gateway.KnownWindow `json:"items"`
}

// forgetting says which windows to forget.
type forgetting struct {
	Upstream string `json:"upstream,omitempty"` // "": of all
	Model    string `json:"model,omitempty"`    // "": of all
}

type forgotten struct {
	Forgotten int `json:"forgotten"`
}

// settingsPatch says what to change.
type settingsPatch struct {
	gateway.SettingsPatch
	Persist bool `json:"persist,omitempty"` // write what is in force then to the configuration file
}

// verifying holds a text that stands for a conversation.
type verifying struct {
	Summary string `json:"summary"`
}

// condensing asks for a condensation.
type condensing struct {
	Focus      string        `json:"focus,omitempty"`        // what a summary should pay attention to
	Target     precis.Target `json:"target_tokens,omitzero"` // to come down to: tokens from 1,000 on, or a text such as "20%" or "20k"; 0: by the settings
	From       int           `json:"from,omitempty"`         // only messages from this one on …
	To         int           `json:"to,omitempty"`           // … to the one before this; 0: all
	Summarizer string        `json:"summarizer,omitempty"`   // "model" or "digest"; "": as the settings say
	Profile    string        `json:"profile,omitempty"`      // whose settings to use; "": the default one
	Force      bool          `json:"force,omitempty"`        // although something would be lost altogether
}

// options returns what is asked for; a user asks.
func (in condensing) options() conversation.CondenseOptions {
	return conversation.CondenseOptions{Focus: in.Focus, Target: in.Target.Tokens, Share: in.Target.Share, Summarizer: in.Summarizer, Profile: in.Profile, From: in.From, To: in.To, Force: in.Force}
}

// applying puts a draft in force.
type applying struct {
	Draft string            `json:"draft"`
	Texts map[string]string `json:"texts,omitempty"` // by the IDs of its edits, texts in the place of its own
	Force bool              `json:"force,omitempty"` // although something would be lost altogether
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

// excluding names what is to be hidden: whole messages.
type excluding struct {
	Handle precis.Handle `json:"handle"`
	Force  bool          `json:"force,omitempty"` // although something would be lost altogether
}

// rewording puts another text in the place of a summary.
type rewording struct {
	Edit  string `json:"edit"` // that shows the summary
	Text  string `json:"text"`
	Force bool   `json:"force,omitempty"` // although something would be lost altogether
}

// ordering holds the next request.
type ordering struct {
	Seconds int `json:"seconds,omitempty"` // that it waits at most; 0: two minutes
}

// lettingGo sends a request that is held.
type lettingGo struct {
	Again bool `json:"again,omitempty"` // the one after it is held as well
}

// upTo is a place in a conversation.
type upTo struct {
	Messages *int `json:"messages"` // only this many of the first messages
}

// purging says what is to be forgotten: one of the three.
type purging struct {
	IDs    []string  `json:"ids,omitempty"`
	Before time.Time `json:"before,omitzero"` // what was last updated before
	All    bool      `json:"all,omitempty"`
}

// The bodies of the engine's operations, as they are documented: the fields of a
// model API and those of the engine.
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
