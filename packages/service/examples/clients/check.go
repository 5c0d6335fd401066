// Asks a Sluice service whether a request may go. Exits with 0 if it may, and with 1 if it is denied.
//
//	SLUICE_URL=http://127.0.0.1:8080 go run check.go acct_1
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"
)

// Verdict is the part of the service's answer that most programs need.
type Verdict struct {
	Allowed  bool     `json:"allowed"`
	DeniedBy []string `json:"deniedBy"`
	// RetryAfterMs is nil if waiting does not help, because the cost is larger than the limit.
	RetryAfterMs *float64 `json:"retryAfterMs"`
}

// One client for the whole program: it keeps connections open.
var client = &http.Client{Timeout: 500 * time.Millisecond}

// check returns an error if the service does not answer, or if the request is not valid.
func check(url string, attributes map[string]string, cost int) (*Verdict, error) {
	body, err := json.Marshal(map[string]any{"attributes": attributes, "cost": cost})
	if err != nil {
		return nil, err
	}
	response, err := client.Post(url+"/v1/check", "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the service answered %s", response.Status)
	}
	verdict := &Verdict{}
	return verdict, json.NewDecoder(response.Body).Decode(verdict)
}

func main() {
	url, merchant := "http://127.0.0.1:8080", "acct_1"
	if value := os.Getenv("SLUICE_URL"); value != "" {
		url = value
	}
	if len(os.Args) > 1 {
		merchant = os.Args[1]
	}
	attributes := map[string]string{"merchant": merchant, "method": "POST", "path": "/v1/charges", "ip": "192.0.2.7"}
	verdict, err := check(url, attributes, 1)
	switch {
	case err != nil:
		// A limit must not take the API down.
		fmt.Println("allowed: the service did not answer")
		fmt.Fprintln(os.Stderr, err)
	case verdict.Allowed:
		fmt.Println("allowed")
	case verdict.RetryAfterMs == nil:
		fmt.Printf("denied by %s\n", strings.Join(verdict.DeniedBy, ", "))
		os.Exit(1)
	default:
		fmt.Printf("denied by %s: try again in %.0f ms\n", strings.Join(verdict.DeniedBy, ", "), *verdict.RetryAfterMs)
		os.Exit(1)
	}
}
