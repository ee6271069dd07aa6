import EntrupyAPI
import EntrupyStorage
import Simulation
import SimulationAPI

/// The content of a certificate [D certificates].
package struct CertificateDetails: Sendable {
    package let certificateID: String
    package let entrupyID: String
    package let brand: String
    /// The style, or else the item type; `nil` if the app sent neither.
    package let style: String?
    package let styleCode: String?
    /// The member `serial_number` of the item; `nil` if the app sent none.
    package let serialNumber: String?
    /// The customer's own id of the item; `nil` if there is none, or the settings hide it [P].
    package let customerItemID: String?
    /// The result's header, in the reader's language.
    package let result: String
    /// The day the result was set, in ISO 8601.
    package let date: String
    /// The names first set for the user [S]; `nil` if there are none.
    package let owner: String?
    package let organization: String
    /// The email of the holder it was transferred to; `nil` if it was not.
    package let holder: String?
    /// The URL of the item's first image.
    package let photo: String?
    /// The certificate's own URL.
    package let url: String
    package let language: Language
}

/// `GET /certificates/{certificate_id}`: needs no token. Anyone with the URL may read it.
package enum ShowCertificate: RuleByID, Reads {
    package static func perform(
        _ certificateID: String, _ job: JobContext, as caller: Anyone
    ) throws -> CertificateDetails {
        // A withdrawn certificate is reported as missing.
        let found = try job.transaction.item(certificateID: certificateID)
        guard let item = found, ResultRendering(job).certificateID(item) != nil,
            let user = try job.transaction.user(id: item.userID),
            let organization = try job.transaction.organization(id: item.organizationID)
        else {
            throw PlatformError.notFound(
                "there is no certificate \"\(certificateID.excerpt)\"; an item has one while its result is authentic",
                because: try found.map {
                    Because(
                        "the certificate is withdrawn: the result of \($0.entrupyID) is \($0.result.rawValue)",
                        $0.entrupyID, Results.changes)
                } ?? missing(certificateID, job))
        }
        let metadata = try ItemMetadata(stored: item.metadata)
        let names = [user.firstName, user.lastName].compactMap(\.self).joined(separator: " ")
        return CertificateDetails(
            certificateID: certificateID, entrupyID: item.entrupyID, brand: item.brandName,
            style: metadata.text(.styleName) ?? metadata.text(.itemType)?.spelledOut,
            styleCode: metadata.text(.styleCode), serialNumber: metadata.members["serial_number"]?.text?.nonEmpty,
            customerItemID: job.entrupy.settings.certificates.showsCustomerItemID ? item.customerItemID : nil,
            result: job.catalogue.texts.result(item.result)?.header[job.language] ?? item.result.rawValue,
            date: String((item.resultAt ?? item.submittedAt).display.prefix(10)),
            owner: names.nonEmpty, organization: organization.name,
            holder: item.certificateHolder, photo: try ResultRendering(job).pictures(item).first?.url,
            url: job.certificatePage(certificateID), language: job.language)
    }

    /// The fact that the namespace has none. Ids are looked up as they are, in upper case [D item-ids].
    private static func missing(_ id: String, _ job: JobContext) throws -> Because {
        let upper = id.utf8.count <= IDKind.item.length ? id.uppercased() : id
        guard !upper.isIdentical(to: id), try job.transaction.item(certificateID: upper) != nil else {
            return Because("the namespace has no certificate with this id", id, [])
        }
        return Because(
            "the namespace has no certificate with this id, but \(upper): an id is looked up as it is, in upper case",
            upper, [])
    }
}

/// `POST /_sim/authentications/{entrupy_id}/certificate/transfer`: gives the certificate another holder
/// [D certificate-transfer].
package struct TransferCertificate: Operation, Writes {
    let entrupyID: String
    let email: String

    /// - Throws: ``PlatformError/invalid(_:_:)``.
    init(_ entrupyID: String, to email: String) throws {
        self.entrupyID = entrupyID
        self.email = email
        if let problem = TextRules.emailProblem(email) { throw PlatformError.invalid(field: "to", problem) }
    }

    package init(_ input: some RequestInput) throws {
        var fields = input.fields(known: ["to"])
        let email = fields.string("to")
        try fields.finish()
        try self.init(input.path("entrupy_id"), to: email)
    }

    package func perform(_ job: JobContext, as caller: Control) throws -> AuthenticationInfo {
        var item = try Results.find(entrupyID, job)
        _ = try CertificateTransfers.start(&item, to: email, name: nil, job)
        return try AuthenticationInfo(item, job)
    }
}

/// The transfers of certificates to other holders [D certificate-transfers].
enum CertificateTransfers {
    /// Gives the certificate another holder. Throws if the item has none. Writes.
    static func start(
        _ item: inout ItemRecord, to email: String, name: String?, _ job: JobContext
    ) throws -> CertificateTransfer {
        guard ResultRendering(job).certificateID(item) != nil else {
            let reason =
                item.activity == .authentication
                ? ErrorDetail("result", "is \(item.result.rawValue); authentic items have one")
                : ErrorDetail("activity", "is \(item.activity.rawValue); fingerprints have no certificate")
            throw PlatformError.wrongState(
                "the item has no certificate", [reason],
                because: Because(
                    "the \(reason.field) of \(item.entrupyID) \(reason.problem)", item.entrupyID, Results.changes))
        }
        let before = item.certificateHolder
        item.certificateHolder = email
        try Items.save(&item, job)
        let id = try job.nextID(.certificateTransfer)
        var data: JSONObject = ["id": .string(id), "to": .string(email)]
        data["name"] = name.map { .string($0) }
        data["from"] = before.map { .string($0) }
        try job.record(.certificateTransferred, item.entrupyID, data)
        try Webhooks.enqueue(.certificateTransfer, item, adding: ["certificate_holder": .string(email)], job)
        return CertificateTransfer(id: id, to: .init(email: email, name: name), created_at: job.now.wholeSeconds)
    }

    /// All transfers of an item's certificate, from its events.
    static func all(_ item: ItemRecord, _ job: JobContext) throws -> [CertificateTransfer] {
        try job.transaction.events(entrupyID: item.entrupyID).compactMap { event in
            guard event.kind == EventKind.certificateTransferred.name else { return nil }
            let data = try StoredJSON.members(event.data)
            return CertificateTransfer(
                id: data["id"]?.text, to: .init(email: data["to"]?.text ?? "", name: data["name"]?.text),
                created_at: event.at.wholeSeconds)
        }
    }
}

/// `GET /v2/authentications/{entrupy_id}/certificate/transfers` [D certificate-transfers].
package enum ListCertificateTransfers: RuleByID, Reads {
    package static func perform(
        _ entrupyID: String, _ job: JobContext, as partner: Partner
    ) throws -> CertificateTransferList {
        CertificateTransferList(transfers: try CertificateTransfers.all(partner.item(entrupyID, job), job))
    }
}

/// `POST /v2/authentications/{entrupy_id}/certificate/transfers`: the organization's back end gives the certificate
/// another holder.
package struct StartCertificateTransfer: Operation, Writes {
    let entrupyID: String
    let holder: CertificateTransfer.Holder

    package init(_ input: some RequestInput) throws {
        var fields = input.fields
        fields.require("to")
        var holder = fields.optionalObject("to", known: nil)
        holder?.require("email")
        let (email, name) = (holder?.optionalString("email"), holder?.given("name"))
        if let problem = email.flatMap(TextRules.emailProblem) { holder?.report("email", problem) }
        if let problem = name.flatMap({ TextRules.tooLong($0, bytes: 254) }) { holder?.report("name", problem) }
        try fields.finish()
        entrupyID = input.path("entrupy_id")
        self.holder = .init(email: email ?? "", name: name)
    }

    package func perform(_ job: JobContext, as partner: Partner) throws -> CertificateTransfer {
        var item = try partner.item(entrupyID, job)
        return try CertificateTransfers.start(&item, to: holder.email, name: holder.name, job)
    }
}
