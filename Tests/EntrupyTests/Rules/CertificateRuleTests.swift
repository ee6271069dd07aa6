import EntrupyAPI
import SimulationAPI
import TestSupport
import Testing

@testable import Entrupy
@testable import Simulation

/// Certificates [D certificates]: an authentic item has one, which may get another holder.
@Suite struct CertificateRuleTests {
    @Test func aCertificateIsShownOnlyWhileTheItemIsAuthentic() async throws {
        let bench = try await RuleBench()
        let id = try await bench.submit(bench.login(), "sim-authentic-after-0s")
        let certificate = try #require(try await bench.item(id).certificateID)
        func show() async -> PlatformError.Kind? {
            await refusal { try await bench.control(ByID<ShowCertificate>(certificate)) }
        }
        #expect(await show() == nil)
        for result in [ResultID.unknown, .needsReview] {
            _ = try await bench.control(PatchAuthentication(entrupyID: id, result: result))
            #expect(await show() == .notFound)
            #expect(await refusal { try await bench.control(TransferCertificate(id, to: "a@b")) } == .wrongState)
        }
        _ = try await bench.control(PatchAuthentication(entrupyID: id, result: .authentic))
        #expect(await show() == nil)
        #expect(try await bench.item(id).certificateID == certificate, "the same one")
    }

    @Test func anIDInLowerCaseIsNotFoundAndTheJournalSaysWhy() async throws {
        let bench = try await RuleBench()
        let item = try await bench.submit(bench.login(), "sim-authentic-after-0s")
        let id = try #require(try await bench.item(item).certificateID)
        for (asked, fact) in [
            (
                id.lowercased(),
                "the namespace has no certificate with this id, but \(id): an id is looked up as it is, in upper case"
            ),
            ("nope", "the namespace has no certificate with this id"),
            (String(repeating: "x", count: 5000), "the namespace has no certificate with this id"),
        ] {
            let refused = await refusalError { try await bench.control(ByID<ShowCertificate>(asked)) }
            #expect(refused?.kind == .notFound && refused?.because == fact, "\(String(describing: refused))")
        }
    }

    @Test func aTransferSetsTheHolderAndIsListedAndSent() async throws {
        let bench = try await RuleBench()
        let id = try await bench.submit(bench.login(), "sim-authentic-after-0s")
        _ = try await bench.subscribe(events: ["certificate.transfer"])
        for holder in ["first@example.com", "second@example.com"] {
            _ = try await bench.control(TransferCertificate(id, to: holder))
            #expect(try await bench.item(id).certificateHolder == holder)
            let data = try RuleBench.body(try await bench.deliver(200))["data"]?.members
            #expect(data?["certificate_holder"]?.text == holder)
        }
        let transfers = try await bench.partner(ByID<ListCertificateTransfers>(id)).transfers
        #expect(transfers.map(\.to.email) == ["first@example.com", "second@example.com"])
        let other = ByID<ListCertificateTransfers>(id)
        #expect(await refusal { try await bench.partner(other, RuleBench.otherPartner) } == .notFound)
    }

    @Test func theSettingsGiveCertificatesAnotherURLAndShowTheCustomersID() async throws {
        for (settings, shown, id) in [
            ([:], "/certificates/", nil),
            (
                ["certificates": ["show_customer_item_id": true, "url": "https://cert.entrupy.com/{id}"]],
                "https://cert.entrupy.com", "sim-authentic-after-0s"
            ),
        ] as [(JSONObject, String, String?)] {
            let bench = try await RuleBench(settings: .object(settings))
            let item = try await bench.submit(bench.login(), "sim-authentic-after-0s")
            let certificate = try #require(try await bench.item(item).certificateID)
            let info = try await bench.control(ByID<ShowAuthentication>(item))
            #expect(info.v2.certificate?.url.hasPrefix(shown) == true, "\(info.v2)")
            #expect(info.v2.certificate?.url.hasSuffix("/\(certificate)") == true)
            let page = try await bench.control(ByID<ShowCertificate>(certificate))
            #expect(page.customerItemID == id)
            #expect(page.url.hasSuffix("/certificates/\(certificate)"), "the page stays where it is")
        }
    }

    @Test func aFingerprintHasNoCertificate() async throws {
        let bench = try await RuleBench()
        let user = try await bench.login()
        let request = StartCaptureRequest(
            item: ["brand": "Nike", "style_name": "Air Max"], activity: .fingerprintRegister)
        let capture = try await bench.user(StartCapture(request), user).captureID
        try await bench.upload(capture, user)
        let id = try await bench.user(ByID<SubmitCapture>(capture), user).entrupy_id
        _ = try await bench.control(PatchAuthentication(entrupyID: id, result: .authentic))
        #expect(try await bench.item(id).certificateID == nil)
        #expect(await refusal { try await bench.control(TransferCertificate(id, to: "a@b")) } == .wrongState)
        let sent = bench.sent(["to": ["email": "a@b"]], path: ["entrupy_id": id])
        let refused = await refusalError { try await bench.partner(StartCertificateTransfer(sent)) }
        #expect(refused?.kind == .wrongState)
        #expect(refused?.details.first?.field == "activity")
    }

    @Test(
        arguments: [[:], ["to": "buyer"], ["to": 1], ["to": "a@b", "from": "c@d"]] as [JSONValue])
    func aTransferNeedsAnEmailAndNothingElse(body: JSONValue) async throws {
        let bench = try await RuleBench()
        let id = try #require(try await bench.generate([:]).first)
        let sent = bench.sent(body, path: ["entrupy_id": id])
        #expect(await refusal { try await bench.control(TransferCertificate(sent)) } == .invalid)
    }

    @Test func theBackEndTransfersACertificate() async throws {
        let bench = try await RuleBench()
        let id = try #require(try await bench.generate([:]).first)
        _ = try await bench.subscribe()
        func transfer(_ body: JSONValue) async throws -> CertificateTransfer {
            try await bench.partner(StartCertificateTransfer(bench.sent(body, path: ["entrupy_id": id])))
        }
        for wrong: JSONValue in [
            [:], ["to": "a@b"], ["to": ["email": "a"]], ["to": ["name": "x"]],
            ["to": ["email": "a@b", "name": .string(String(repeating: "x", count: 255))]],
        ] {
            #expect(await refusal { try await transfer(wrong) } == .invalid, "\(wrong)")
        }
        let started = try await transfer(["to": ["email": "buyer@example.com", "name": "Grace"]])
        #expect(started.to.name == "Grace")
        _ = try await bench.control(TransferCertificate(id, to: "next@example.com"))
        let all = try await bench.partner(ByID<ListCertificateTransfers>(id)).transfers
        #expect(all.map(\.to.email) == ["buyer@example.com", "next@example.com"])
        #expect(all.first?.id == started.id)
        #expect(all.last?.id != started.id)
        #expect(try await bench.deliverAll() == ["certificate.transfer", "certificate.transfer"])
        _ = try await bench.control(PatchAuthentication(entrupyID: id, result: .unknown))
        #expect(await refusal { try await transfer(["to": ["email": "a@b"]]) } == .wrongState)
    }
}
