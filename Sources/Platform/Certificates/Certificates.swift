import EntrupyAPI
import Storage

/// What a certificate says.
package struct CertificateDetails: Sendable {
    package let certificateID: String
    package let entrupyID: String
    package let brand: String
    /// The style, or the kind of item; nil where the app named neither.
    package let style: String?
    package let customerItemID: String?
    /// The result's header, in the reader's language.
    package let result: String
    /// When the result was set: ISO 8601, the day.
    package let date: String
    /// The names first set for the user [S]; nil where there are none.
    package let owner: String?
    package let organization: String
    /// The email of whom it was transferred to.
    package let holder: String?
    /// The item's first picture.
    package let photo: String?
    /// The certificate's own address.
    package let url: String
    package let language: Language
}

/// `GET /certificates/{certificate_id}`: no token; whoever has the address may read it.
package struct ShowCertificate: OpenOperation {
    package static let access = Access.reads
    let certificateID: String

    package init(_ certificateID: String) {
        self.certificateID = certificateID
    }

    package func perform(_ job: JobContext) throws -> CertificateDetails {
        // One that was withdrawn looks like one that never was.
        guard let item = try job.transaction.item(certificateID: certificateID),
            ResultRendering(job).certificateID(item) != nil, let user = try job.transaction.user(id: item.userID),
            let organization = try job.transaction.organization(id: item.organizationID)
        else { throw PlatformError.notFound("no such certificate; it is there while the result is authentic") }
        let metadata = ItemMetadata(members: try StoredJSON.decode(item.metadata).members ?? [:])
        let names = [user.firstName, user.lastName].compactMap(\.self)
        return CertificateDetails(
            certificateID: certificateID, entrupyID: item.entrupyID, brand: item.brandName,
            style: metadata.text(.styleName) ?? metadata.text(.itemType)?.spelledOut,
            customerItemID: item.customerItemID,
            result: job.catalogue.texts.results[item.resultID]?.header[job.language] ?? item.resultID,
            date: String((item.resultAt ?? item.submittedAt).display.prefix(10)),
            owner: names.isEmpty ? nil : names.joined(separator: " "), organization: organization.name,
            holder: item.certificateHolder, photo: try ResultRendering(job).pictures(item).first?.url,
            url: job.certificateURL(certificateID), language: job.language)
    }
}

/// `POST /_sim/authentications/{entrupy_id}/certificate/transfer`: the certificate has another holder [D].
package struct TransferCertificate: OpenOperation {
    package static let access = Access.writes
    let entrupyID: String
    let email: String

    /// - Throws: ``PlatformError/invalid(_:_:)``.
    package init(_ entrupyID: String, to email: String) throws {
        self.entrupyID = entrupyID
        self.email = email
        if let problem = TextRules.emailProblem(email) { throw PlatformError.invalid(field: "to", problem) }
    }

    package func perform(_ job: JobContext) throws -> AuthenticationInfo {
        var item = try Results.find(entrupyID, job)
        guard ResultRendering(job).certificateID(item) != nil else {
            throw PlatformError.wrongState(
                "the item has no certificate", [ErrorDetail("result", "is \(item.resultID); authentic items have one")])
        }
        let before = item.certificateHolder
        item.certificateHolder = email
        item.updatedAt = job.now
        try job.transaction.updateItem(item)
        item.revision += 1
        var data: JSONObject = ["to": .string(email)]
        data["from"] = before.map { .string($0) }
        try job.record(.certificateTransferred, entrupyID, data)
        try Webhooks.enqueue(.certificateTransfer, item, saying: ["certificate_holder": .string(email)], job)
        return try AuthenticationInfo(item, job)
    }
}
