// Starts the recipe's container on the stand-in of the library, and prints what it got.
package main

import (
	"context"
	"fmt"
	"os"

	"example.com/entrupysim"
)

func main() {
	ctx := context.Background()
	sim, err := entrupysim.Run(ctx, "entrupy-sim")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(sim.URL)
	made, err := sim.Namespace(ctx, map[string]any{"prefix": "go"})
	fmt.Println(made, err)
	_, err = sim.Namespace(ctx, map[string]any{"prefix": "Not A Name"})
	fmt.Println(err)
}
