package com.example.shop

/** Runs the app's networking part against a server, on the JVM: `java … NetworkTestKt http://127.0.0.1:8642`. */
fun main(arguments: Array<String>) {
    val address = arguments.firstOrNull() ?: System.getenv("ENTRUPY_SIM_URL") ?: "http://127.0.0.1:8642"
    var (passed, failed) = Pair(0, 0)
    fun test(name: String, body: (EntrupySim, ShopApi) -> Unit) {
        try {
            EntrupySim.make(address).use { sim ->
                val api = ShopApi(sim.address, sim.headers)
                api.logIn(sim.signedRequest("android-user"))
                body(sim, api)
            }
            passed += 1
            println("ok    $name")
        } catch (error: Throwable) {
            failed += 1
            println("FAIL  $name: $error")
        }
    }
    test("a late result arrives once the clock has moved") { sim, api ->
        sim.outcome("unknown", customerItemId = "late-*", after = "3h")
        val item = api.capture("Nike", "Sneakers", "late-1") { Pictures.png }
        val id = item.getString("entrupy_id")
        fun result() = api.result(id).getJSONObject("status").getJSONObject("result").getString("id")
        check(result() == "needs_review") { "the result is ${result()} before its time" }
        sim.advance("3h")
        check(result() == "unknown") { "the result is ${result()}" }
    }
    test("a capture times out after two hours") { sim, api ->
        val error = try {
            api.capture("Nike", "Sneakers", "slow-1") { sim.advance("2h"); Pictures.png }
            null
        } catch (error: ApiError) {
            error
        }
        check(error?.status == 410 && error.code == "capture_timed_out") { "the upload answered ${error?.status}" }
    }
    test("a server error is reported, and the next try succeeds") { sim, api ->
        sim.fail("/sdk/captures", 503)
        val error = try {
            api.capture("Nike", "Sneakers", "sku-1") { Pictures.png }
            null
        } catch (error: ApiError) {
            error
        }
        check(error?.status == 503) { "the start answered ${error?.status}" }
        api.capture("Nike", "Sneakers", "sku-1") { Pictures.png }
    }
    test("a session ends after a day") { sim, api ->
        sim.advance("1d")
        val error = try {
            api.result("AAAAAAAA")
            null
        } catch (error: ApiError) {
            error
        }
        check(error?.status == 401) { "the request answered ${error?.status}" }
    }
    println("$passed passed, $failed failed")
    if (failed > 0) System.exit(1)
}
