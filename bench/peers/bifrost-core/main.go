// Bifrost's core as a Go program would embed it, behind one HTTP handler: what its gateway cannot cost less than. No
// plugin, no governance, no log store. Arguments: the port, and the address of the provider.
package main

import (
	"bufio"
	"context"
	"log"
	"os"

	"github.com/bytedance/sonic"
	bifrost "github.com/maximhq/bifrost/core"
	"github.com/maximhq/bifrost/core/schemas"
	"github.com/valyala/fasthttp"
)

// One provider, one key, no model left out.
type account struct{ address string }

func (account) GetConfiguredProviders() ([]schemas.ModelProvider, error) {
	return []schemas.ModelProvider{schemas.OpenAI}, nil
}

func (account) GetKeysForProvider(*context.Context, schemas.ModelProvider) ([]schemas.Key, error) {
	return []schemas.Key{{Value: "bench-upstream-key", Models: []string{}, Weight: 1}}, nil
}

func (a account) GetConfigForProvider(schemas.ModelProvider) (*schemas.ProviderConfig, error) {
	network := schemas.DefaultNetworkConfig
	network.BaseURL = a.address
	queue := schemas.ConcurrencyAndBufferSize{Concurrency: 300, BufferSize: 2000}
	return &schemas.ProviderConfig{NetworkConfig: network, ConcurrencyAndBufferSize: queue}, nil
}

type chatBody struct {
	Model       string                   `json:"model"`
	Messages    []schemas.BifrostMessage `json:"messages"`
	Stream      bool                     `json:"stream"`
	MaxTokens   *int                     `json:"max_tokens"`
	Temperature *float64                 `json:"temperature"`
}

type embeddingBody struct {
	Model          string  `json:"model"`
	Input          *string `json:"input"`
	EncodingFormat *string `json:"encoding_format"`
}

func main() {
	port, address := os.Args[1], os.Args[2]
	core, err := bifrost.Init(context.Background(), schemas.BifrostConfig{
		Account:         account{address},
		InitialPoolSize: 1000,
		Logger:          bifrost.NewDefaultLogger(schemas.LogLevelError),
	})
	if err != nil {
		log.Fatal(err)
	}
	server := &fasthttp.Server{
		Concurrency:        4096,
		MaxRequestBodySize: 100 << 20,
		Handler: func(ctx *fasthttp.RequestCtx) {
			switch {
			case !ctx.IsPost():
			case string(ctx.Path()) == "/v1/embeddings":
				embed(core, ctx)
			default:
				chat(core, ctx)
			}
		},
	}
	log.Fatal(server.ListenAndServe("127.0.0.1:" + port))
}

func chat(core *bifrost.Bifrost, ctx *fasthttp.RequestCtx) {
	var body chatBody
	if err := sonic.Unmarshal(ctx.PostBody(), &body); err != nil {
		ctx.Error(err.Error(), fasthttp.StatusBadRequest)
		return
	}
	request := &schemas.BifrostRequest{
		Provider: schemas.OpenAI,
		Model:    body.Model,
		Input:    schemas.RequestInput{ChatCompletionInput: &body.Messages},
		Params:   &schemas.ModelParameters{MaxTokens: body.MaxTokens, Temperature: body.Temperature},
	}
	if body.Stream {
		stream(core, ctx, request)
		return
	}
	answer, failure := core.ChatCompletionRequest(ctx, request)
	if failure != nil {
		refuse(ctx, failure)
		return
	}
	write(ctx, answer)
}

func embed(core *bifrost.Bifrost, ctx *fasthttp.RequestCtx) {
	var body embeddingBody
	if err := sonic.Unmarshal(ctx.PostBody(), &body); err != nil {
		ctx.Error(err.Error(), fasthttp.StatusBadRequest)
		return
	}
	answer, failure := core.EmbeddingRequest(ctx, &schemas.BifrostRequest{
		Provider: schemas.OpenAI,
		Model:    body.Model,
		Input:    schemas.RequestInput{EmbeddingInput: &schemas.EmbeddingInput{Text: body.Input}},
		Params:   &schemas.ModelParameters{EncodingFormat: body.EncodingFormat},
	})
	if failure != nil {
		refuse(ctx, failure)
		return
	}
	write(ctx, answer)
}

func stream(core *bifrost.Bifrost, ctx *fasthttp.RequestCtx, request *schemas.BifrostRequest) {
	chunks, failure := core.ChatCompletionStreamRequest(context.Background(), request)
	if failure != nil {
		refuse(ctx, failure)
		return
	}
	ctx.SetContentType("text/event-stream")
	ctx.SetBodyStreamWriter(func(to *bufio.Writer) {
		for chunk := range chunks {
			if chunk == nil {
				continue
			}
			var event any = chunk.BifrostResponse
			if chunk.BifrostError != nil {
				event = chunk.BifrostError
			}
			text, err := sonic.Marshal(event)
			if err != nil {
				return
			}
			to.WriteString("data: ")
			to.Write(text)
			to.WriteString("\n\n")
			if to.Flush() != nil {
				return
			}
		}
		to.WriteString("data: [DONE]\n\n")
		to.Flush()
	})
}

func refuse(ctx *fasthttp.RequestCtx, failure *schemas.BifrostError) {
	ctx.SetStatusCode(fasthttp.StatusBadGateway)
	write(ctx, failure)
}

func write(ctx *fasthttp.RequestCtx, value any) {
	text, err := sonic.Marshal(value)
	if err != nil {
		ctx.Error(err.Error(), fasthttp.StatusInternalServerError)
		return
	}
	ctx.SetContentType("application/json")
	ctx.SetBody(text)
}
