import Foundation
import Hashes
import SimulationAPI
import TestSupport
import Testing

@Suite struct ConfigurationTests {
    @Test func productionAndDebugDifferInTheirWorkflow() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let production = try await world.send("GET", "/sdk/config?config_type=production", token: token)
        let debug = try await world.send("GET", "/sdk/config?config_type=debug", token: token)
        #expect(production["config_id"] != debug["config_id"])
        let issued = try #require(production["issued_at"].double)
        #expect(production["expires_at"].double ?? 0 > issued)
        for (index, id) in ["sneakers", "luxury", "apparel"].enumerated() {
            let category = "product_categories.\(index)"
            #expect(production["\(category).id"] == .string(id))
            #expect((6...10).contains(production["\(category).capture_steps"].items.count))
            #expect(debug["\(category).capture_steps"].items.count == 2)
            #expect(!production["\(category).brands"].items.isEmpty)
        }
        #expect(production["product_categories.0.required_fields"] == ["brand"])
        #expect(production["product_categories.2.required_fields"] == ["brand", "item_type"])
        #expect(try await world.send("GET", "/sdk/config?config_type=other", token: token).status == 400)
    }

    @Test func textsComeInTheCallersLanguage() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let step = "product_categories.0.capture_steps.0.display_name"
        #expect(try await world.send("GET", "/sdk/config", token: token)[step] == "Outer side")
        #expect(
            try await world.send("GET", "/sdk/config", token: token, headers: ["Accept-Language": "ja-JP,en;q=0.5"])[
                step] == "外側面")
    }
}

/// Captures over HTTP. Their rules are `CaptureRuleTests`.
@Suite struct CaptureTests {
    @Test func aStartedCaptureHasItsStepsAndExpiresInTwoHours() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        var item = TestWorld.nike.members!
        item["note"] = ["mine": [1, nil, "é"]]
        let answer = try await world.send("POST", "/sdk/captures", ["item": .object(item)], token: token)
        #expect(answer.status == 201)
        #expect(answer["status"] == "started")
        #expect(answer["config_type"] == "production")
        #expect(answer["item"] == .object(item))
        #expect(answer["started_at"].double == TestWorld.epoch)
        #expect(answer["expires_at"].double == TestWorld.epoch + 7200)
        #expect(answer["submitted_at"] == .null && answer["entrupy_id"] == .null)
        #expect(answer["steps"].items.someAndAll { $0["uploaded"] == false })
        let path = "/sdk/captures/\(answer["capture_id"].text ?? "")"
        #expect(try await world.send("GET", path, token: token).body == answer.body)
    }

    /// The server builds the answer to a start from parts, but encodes the answer to a read as a whole.
    @Test func aStartAndAReadReturnTheSameBytes() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        for type in ["production", "debug"] {
            for language in ["en", "ja"] {
                for (index, category) in ["sneakers", "luxury", "apparel"].enumerated() {
                    var item = TestWorld.nike.members!
                    item["product_category"] = .string(category)
                    item["item_type"] = "jacket"
                    item["material"] = "cotton"
                    item[#""item":{},"steps":[]"#] = [["steps": [], "item": [:]], .string(#"{"steps":[]}\"#)]
                    if index == 2 { item["style_name"] = nil }
                    let headers = ["Accept-Language": language]
                    for _ in 0..<2 {
                        let started = try await world.send(
                            "POST", "/sdk/captures", ["config_type": .string(type), "item": .object(item)],
                            token: token, headers: headers)
                        try #require(started.status == 201, "\(String(decoding: started.body, as: UTF8.self))")
                        let seen = try await world.send(
                            "GET", "/sdk/captures/\(started["capture_id"].text ?? "")", token: token, headers: headers)
                        #expect(started.body == seen.body)
                        #expect(started["config_type"].text == type && !started["steps"].items.isEmpty)
                    }
                }
            }
        }
    }

    @Test func anUploadIsReceiptedReplacedAndServed() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let capture = try await world.startCapture(token)
        let answer = try await world.upload(capture.id, "heel", token)
        #expect(answer.status == 200)
        #expect(answer["bytes"].double == Double(TestWorld.picture.count))
        let hash = SHA256.hash(data: TestWorld.picture).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(answer["sha256"] == .string(hash))
        let small = Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")!
        #expect(try await world.upload(capture.id, "heel", token, small).status == 200)
        let steps = try await world.send("GET", "/sdk/captures/\(capture.id)", token: token)["steps"].items
        #expect(steps.filter { $0["uploaded"] == true }.compactMap { $0["region_id"].text } == ["heel"])
        #expect(try await world.upload(capture.id, "toe_box", token).status == 200)
        for size in ["original", "scale_micro"] {
            let image = try await world.send("GET", "/images/\(hash)/\(size)")
            #expect(image.status == 200)
            #expect(image.body == TestWorld.picture)
            #expect(image.headers["Content-Type"] == ["image/jpeg"])
            #expect(image.headers["Cache-Control"].first?.contains("immutable") == true)
        }
        #expect(try await world.send("GET", "/images/\(String(hash.reversed()))/original").status == 404)
        #expect(try await TestWorld.make().send("GET", "/images/\(hash)/original").status == 404, "another namespace")
    }

    @Test func brokenImagesAre422AndUnknownRegions404() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let capture = try await world.startCapture(token)
        for bad in [Data(), Data("GIF89a".utf8), TestWorld.picture.dropLast(), TestWorld.picture.prefix(60_000)] {
            let answer = try await world.upload(capture.id, "heel", token, Data(bad))
            #expect(answer.status == 422)
            #expect(answer["sdk_error"] == "ErrorCodeImageUploadError")
        }
        #expect(try await world.upload(capture.id, "sleeve", token, Data()).status == 404)
        #expect(try await world.upload("cap_x", "heel", token).status == 404)
        let wrong = ["Content-Digest": "sha-256=:\(Data(repeating: 1, count: 32).base64EncodedString()):"]
        let path = "/sdk/captures/\(capture.id)/images/heel"
        #expect(try await world.send("PUT", path, bytes: TestWorld.picture, token: token, headers: wrong).status == 422)
        let right = ["Content-Digest": "sha-256=:\(Data(SHA256.hash(data: TestWorld.picture)).base64EncodedString()):"]
        #expect(try await world.send("PUT", path, bytes: TestWorld.picture, token: token, headers: right).status == 200)
        #expect(
            try await world.send("PUT", path, bytes: TestWorld.picture, token: token, headers: ["Content-Digest": "x"])
                .status == 400)
        let large = try await world.upload(capture.id, "heel", token, Data(count: 20_000_001))
        #expect(large.status == 413)
    }

    @Test func aCaptureIsSubmittedOnceAndTheConflictNamesTheItem() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let capture = try await world.readyCapture(token)
        let first = try await world.send("POST", "/sdk/captures/\(capture)/submit", token: token)
        let second = try await world.send("POST", "/sdk/captures/\(capture)/submit", token: token)
        #expect(second.status == 409)
        #expect(second["entrupy_id"] == first["entrupy_id"])
        #expect(try await world.upload(capture, "heel", token).status == 409)
        #expect(try await world.send("POST", "/sdk/captures/\(capture)/cancel", token: token).status == 409)
        let shown = try await world.send("GET", "/sdk/captures/\(capture)", token: token)
        #expect(shown["status"] == "submitted")
        #expect(shown["entrupy_id"] == first["entrupy_id"])
        #expect(shown["submitted_at"].double == TestWorld.epoch)
        #expect(try await world.counts()["authentications"].double == 1)
    }

    @Test func aCancelledCaptureCannotBeChangedOrTimeOut() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let capture = try await world.startCapture(token)
        #expect(
            try await world.send("POST", "/sdk/captures/\(capture.id)/cancel", token: token)["status"] == "cancelled")
        for (method, path) in [("POST", "cancel"), ("POST", "submit"), ("PUT", "images/heel")] {
            #expect(
                try await world.send(
                    method, "/sdk/captures/\(capture.id)/\(path)", bytes: TestWorld.picture, token: token
                ).status == 409)
        }
        #expect(try await world.upload(capture.id, "heel", token, Data("GIF89a".utf8)).status == 409, "not 422")
        try await world.advance("3h")
        #expect(try await world.send("GET", "/sdk/captures/\(capture.id)", token: token)["status"] == "cancelled")
    }

    @Test func captureNotSubmittedWithinTwoHoursTimesOut() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let capture = try await world.readyCapture(token)
        let intime = try await world.readyCapture(token)
        try await world.advance("7199.999999s")
        #expect(try await world.send("GET", "/sdk/captures/\(capture)", token: token)["status"] == "started")
        #expect(try await world.send("POST", "/sdk/captures/\(intime)/submit", token: token).status == 200)
        try await world.advance("0.000001s")
        #expect(try await world.send("GET", "/sdk/captures/\(capture)", token: token)["status"] == "timed_out")
        for (method, path) in [("POST", "submit"), ("POST", "cancel"), ("PUT", "images/heel")] {
            let answer = try await world.send(
                method, "/sdk/captures/\(capture)/\(path)", bytes: method == "PUT" ? TestWorld.picture : nil,
                token: token)
            #expect(answer.status == 410)
            #expect(answer["code"] == "capture_timed_out")
            #expect(answer["sdk_error"] == .null)
        }
        #expect(try await world.upload(capture, "heel", token, Data("GIF89a".utf8)).status == 410, "not 422")
    }

    @Test func anotherUsersCaptureLooksLikeAMissingOne() async throws {
        let world = try await TestWorld.make()
        let token = try await world.login()
        let stranger = try await world.login("another-user")
        let capture = try await world.startCapture(token)
        for (method, path) in [("GET", ""), ("POST", "/submit"), ("POST", "/cancel"), ("PUT", "/images/heel")] {
            let theirs = try await world.send(
                method, "/sdk/captures/\(capture.id)\(path)", bytes: nil, token: stranger,
                headers: ["X-Request-Id": "same"])
            let missing = try await world.send(
                method, "/sdk/captures/cap_none\(path)", bytes: nil, token: stranger, headers: ["X-Request-Id": "same"])
            #expect(theirs.status == 404)
            #expect(theirs.body == missing.body)
        }
    }
}
