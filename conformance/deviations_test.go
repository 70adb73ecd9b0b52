package conformance

import "encoding/json"

func deviateTruncate(input, output json.RawMessage) string   { return "" }
func deviateWillManage(input, output json.RawMessage) string { return "" }
func deviateRewind(input, output json.RawMessage) string     { return "" }
