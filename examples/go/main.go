// Command go sends a request to a model as the view of its conversation:
//
//	go run . https://api.openai.com/v1/chat/completions "Bearer $OPENAI_API_KEY" <request.json
//
//precis:testonly
package main

import (
	"io"
	"log"
	"net/http"
	"os"

	"github.com/precis-dev/precis/keeper"
)

func main() {
	k, err := keeper.Open("agent.db", keeper.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer k.Close()
	request, _ := http.NewRequest("POST", os.Args[1], os.Stdin)
	request.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {os.Args[2]}}
	answer, err := k.HTTPClient().Do(request)
	if err != nil {
		log.Fatal(err)
	}
	_, _ = io.Copy(os.Stdout, answer.Body)
}
