import EntrupyAPI
import Simulation
import SimulationAPI

/// The content of a certificate [D certificates].
package struct CertificateDetails: Sendable {
    package let certificateID: String
    package let entrupyID: String
    package let brand: String
    /// The style, or else the item type; `nil` if the app sent neither.
    package let style: String?
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
package struct ShowCertificate: Operation {
    package static let access = Access.reads
    let certificateID: String

    package init(_ certificateID: String) {
        self.certificateID = certificateID
    }

    package func perform(_ job: JobContext, as caller: Anyone) throws -> CertificateDetails {
        // A withdrawn certificate is reported as missing.
        guard let item = try job.transaction.item(certificateID: certificateID),
            ResultRendering(job).certificateID(item) != nil, let user = try job.transaction.user(id: item.userID),
            let organization = try job.transaction.organization(id: item.organizationID)
        else {
            throw PlatformError.notFound(
                "there is no certificate \"\(certificateID.excerpt)\"; an item has one while its result is authentic")
        }
        let metadata = ItemMetadata(members: try StoredJSON.decode(item.metadata).members ?? [:])
        let names = [user.firstName, user.lastName].compactMap(\.self)
        return CertificateDetails(
            certificateID: certificateID, entrupyID: item.entrupyID, brand: item.brandName,
            style: metadata.text(.styleName) ?? metadata.text(.itemType)?.spelledOut,
            customerItemID: item.customerItemID,
            result: job.catalogue.texts.result(item.result)?.header[job.language] ?? item.resultID,
            date: String((item.resultAt ?? item.submittedAt).display.prefix(10)),
            owner: names.isEmpty ? nil : names.joined(separator: " "), organization: organization.name,
            holder: item.certificateHolder, photo: try ResultRendering(job).pictures(item).first?.url,
            url: job.certificateURL(certificateID), language: job.language)
    }
}

/// `POST /_sim/authentications/{entrupy_id}/certificate/transfer`: gives the certificate another holder
/// [D certificate-transfer].
package struct TransferCertificate: Operation {
    package static let access = Access.writes
    let entrupyID: String
    let email: String

    /// - Throws: ``PlatformError/invalid(_:_:)``.
    package init(_ entrupyID: String, to email: String) throws {
        self.entrupyID = entrupyID
        self.email = email
        if let problem = TextRules.emailProblem(email) { throw PlatformError.invalid(field: "to", problem) }
    }

    package func perform(_ job: JobContext, as caller: Control) throws -> AuthenticationInfo {
        var item = try Results.find(entrupyID, job)
        guard ResultRendering(job).certificateID(item) != nil else {
            throw PlatformError.wrongState(
                "the item has no certificate", [ErrorDetail("result", "is \(item.resultID); authentic items have one")])
        }
        let before = item.certificateHolder
        item.certificateHolder = email
        try Items.save(&item, job)
        var data: JSONObject = ["to": .string(email)]
        data["from"] = before.map { .string($0) }
        try job.record(.certificateTransferred, entrupyID, data)
        try Webhooks.enqueue(.certificateTransfer, item, adding: ["certificate_holder": .string(email)], job)
        return try AuthenticationInfo(item, job)
    }
}
