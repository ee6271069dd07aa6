package com.example.shop

import org.json.JSONArray
import org.json.JSONObject
import java.io.IOException
import java.net.HttpURLConnection
import java.net.URL

/** An answer that is not 2xx: the platform's error envelope. */
class ApiError(val status: Int, val code: String, message: String) : IOException(message)

/**
 * The networking part of an app: what it asks of Entrupy's platform. Nothing in it knows of the simulator, but the address and the
 * headers it is given.
 *
 * @param baseUrl the platform's address, without a slash at its end. From Android's emulator the host is `http://10.0.2.2:8642`.
 * @param headers sent with every request: `X-Sim-Namespace` chooses a namespace where the address cannot.
 */
class ShopApi(private val baseUrl: String, private val headers: Map<String, String> = emptyMap()) {
    var session: String? = null
        private set

    /** Logs in with the signed request that the shop's back end got. */
    fun logIn(signedRequest: String) {
        val body = JSONObject().put("signed_authorization_request", signedRequest)
        session = send("POST", "/sdk/login", body).getString("token")
    }

    /** Captures an item: starts, uploads a picture of each region, submits. Returns the item. */
    fun capture(brand: String, itemType: String, customerItemId: String, picture: (region: String) -> ByteArray): JSONObject {
        val item = JSONObject().put("brand", brand).put("item_type", itemType).put("customer_item_id", customerItemId)
        val capture = send("POST", "/sdk/captures", JSONObject().put("item", item))
        val path = "/sdk/captures/" + capture.getString("capture_id")
        val steps: JSONArray = capture.getJSONArray("steps")
        for (index in 0 until steps.length()) {
            val region = steps.getJSONObject(index).getString("region_id")
            send("PUT", "$path/images/$region", picture(region), "image/png")
        }
        return send("POST", "$path/submit")
    }

    fun result(entrupyId: String): JSONObject = send("GET", "/sdk/results/$entrupyId")

    private fun send(method: String, path: String, body: JSONObject): JSONObject =
        send(method, path, body.toString().toByteArray(), "application/json")

    private fun send(method: String, path: String, body: ByteArray? = null, type: String? = null): JSONObject {
        val connection = URL(baseUrl + path).openConnection() as HttpURLConnection
        try {
            connection.requestMethod = method
            connection.connectTimeout = 10_000
            connection.readTimeout = 30_000
            headers.forEach { (name, value) -> connection.setRequestProperty(name, value) }
            session?.let { connection.setRequestProperty("Authorization", "Token $it") }
            if (body != null) {
                connection.doOutput = true
                type?.let { connection.setRequestProperty("Content-Type", it) }
                connection.setFixedLengthStreamingMode(body.size)
                connection.outputStream.use { it.write(body) }
            }
            val status = connection.responseCode
            val stream = if (status < 400) connection.inputStream else connection.errorStream
            val text = stream?.bufferedReader()?.use { it.readText() } ?: ""
            val answer = if (text == "") JSONObject() else JSONObject(text)
            if (status !in 200..299) throw ApiError(status, answer.optString("code"), answer.optString("error"))
            return answer
        } finally {
            connection.disconnect()
        }
    }
}
