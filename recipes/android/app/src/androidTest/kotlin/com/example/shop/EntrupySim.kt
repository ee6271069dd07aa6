package com.example.shop

import org.json.JSONObject
import java.io.Closeable
import java.net.HttpURLConnection
import java.net.URL

/**
 * A namespace of entrupy-sim for one test: a platform of its own, with its own clock and data.
 *
 * Reads the server's address from [address]: on a device `adb reverse tcp:8642 tcp:8642` makes the host's 127.0.0.1 reachable, on the
 * emulator the host is 10.0.2.2.
 */
class EntrupySim private constructor(val address: String, val name: String) : Closeable {
    companion object {
        /** Makes a namespace whose clock is frozen. It is deleted once it was not used for half an hour. */
        fun make(address: String, frozenAt: String = "2026-01-05T09:00:00Z"): EntrupySim {
            val clock = JSONObject().put("freeze", frozenAt)
            val body = JSONObject().put("prefix", "android").put("ttl", "30m").put("clock", clock)
            return EntrupySim(address, call(address, "POST", "/_sim/namespaces", body).getString("name"))
        }

        private fun call(address: String, method: String, path: String, body: JSONObject? = null): JSONObject {
            val connection = URL(address + path).openConnection() as HttpURLConnection
            try {
                connection.requestMethod = method
                if (body != null) {
                    connection.doOutput = true
                    connection.setRequestProperty("Content-Type", "application/json")
                    connection.outputStream.use { it.write(body.toString().toByteArray()) }
                }
                val status = connection.responseCode
                val stream = if (status < 400) connection.inputStream else connection.errorStream
                val text = stream?.bufferedReader()?.use { it.readText() } ?: ""
                check(status in 200..299) { "$method $path answered $status: $text" }
                return if (text == "") JSONObject() else JSONObject(text)
            } finally {
                connection.disconnect()
            }
        }
    }

    /** The header that chooses this namespace, for clients whose address is fixed. */
    val headers = mapOf("X-Sim-Namespace" to name)

    /** Moves the clock: results, time-outs and webhooks that fall due happen before this returns. */
    fun advance(by: String) {
        call("/_sim/clock/advance", JSONObject().put("by", by))
    }

    /** Decides the results of items whose `customer_item_id` matches a glob. */
    fun outcome(result: String, customerItemId: String, after: String) {
        val match = JSONObject().put("customer_item_id", customerItemId)
        call("/_sim/outcomes", JSONObject().put("match", match).put("result", result).put("after", after))
    }

    /** Makes the next requests of a route fail with a status. */
    fun fail(route: String, status: Int, times: Int = 1) {
        val effect = JSONObject().put("status", status)
        call("/_sim/faults", JSONObject().put("match", JSONObject().put("route", route)).put("effect", effect).put("times", times))
    }

    /** What the shop's back end does: has a login request signed. */
    fun signedRequest(user: String): String {
        val connection = URL("$address/ns/$name/v2/integrations/authorize-user").openConnection() as HttpURLConnection
        connection.requestMethod = "POST"
        connection.doOutput = true
        connection.setRequestProperty("Authorization", "Token demo-api-token")
        connection.setRequestProperty("Content-Type", "application/json")
        val body = JSONObject().put("sdk_authorization_request", "from-the-app").put("unique_user_id", user)
            .put("email", "$user@example.com")
        connection.outputStream.use { it.write(body.toString().toByteArray()) }
        val text = connection.inputStream.bufferedReader().use { it.readText() }
        return JSONObject(text).getString("signed_authorization_request")
    }

    override fun close() {
        call(address, "DELETE", "/_sim/namespaces/$name")
    }

    private fun call(path: String, body: JSONObject) = call("$address/ns/$name", "POST", path, body)
}
