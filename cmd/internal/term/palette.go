package term

// palette holds colors of 256-color terminals that are legible on light and dark backgrounds.
// Kinds of content have the same colors as on the dashboard's pages; no kind has the color of
// failures.
var palette = map[string]string{
	"title": "", "good": "29", "warn": "130", "bad": "160", "dim": "243", "hit": "130",
	"system": "245", "tools": "241", "not recorded": "241", "digest": "98", "user": "68", "program": "103",
	"assistant": "72", "thinking": "132",
	"tool use": "136", "tool result": "37", "media": "109", "other": "248", "free": "243", "reserve": "243",
}

// bold lists the styles that are also bold.
var bold = map[string]bool{"title": true, "hit": true}
