import EntrupyAPI
import EntrupyStorage
import Simulation
import SimulationAPI
import Storage

/// The messages of support about an item, and the answers [D support-conversations].
enum SupportConversations {
    /// The messages, from the item's events.
    static func messages(_ item: ItemRecord, _ job: JobContext) throws -> [SupportMessage] {
        try job.transaction.events(entrupyID: item.entrupyID).compactMap { event in
            let type =
                switch event.kind {
                case EventKind.retakeRequested.name: "retake"
                case EventKind.supportMessage.name: "question"
                case EventKind.supportAnswered.name: "answer"
                default: String?.none
                }
            guard let type else { return nil }
            let data = try StoredJSON.decode(event.data).members ?? [:]
            return SupportMessage(
                id: (data["id"] ?? data["retake_id"])?.text ?? "", type: type, message: data["message"]?.text,
                options: texts(data["options"]), regions: texts(data["regions"]), author: data["author"]?.text,
                created_at: event.at.display)
        }
    }

    private static func texts(_ value: JSONValue?) -> [String]? { value?.elements.map { $0.compactMap(\.text) } }

    /// The maximum number of answers to one message from support. Each answer reads all of them.
    static let maxAnswers = 100

    /// Records an answer. Throws if support asked nothing, if the message has ``maxAnswers`` already, and if the answer
    /// is not one of the last question's options. Writes.
    static func answer(_ item: ItemRecord, _ text: String, by author: String, _ job: JobContext) throws
        -> SupportMessage
    {
        let messages = try messages(item, job)
        guard let index = messages.lastIndex(where: { $0.type != "answer" }) else {
            throw PlatformError.wrongState(
                "support has asked nothing about this item",
                because: "\(item.entrupyID) has no message from support and no retake")
        }
        guard messages.count - index - 1 < maxAnswers else {
            throw PlatformError.wrongState(
                "support's last message has \(maxAnswers) answers already",
                because:
                    "support's message \(messages[index].id) has \(maxAnswers) answers, the limit of the simulator"
            )
        }
        let last = messages[index]
        if let options = last.options, !options.contains(where: { $0.isIdentical(to: text) }) {
            throw PlatformError.invalid(
                field: "message", "must be one of the options \(options.joined(separator: ", "))")
        }
        let id = try job.nextID(.supportMessage)
        try job.record(
            .supportAnswered, item.entrupyID,
            ["id": .string(id), "message": .string(text), "author": .string(author)])
        return SupportMessage(id: id, type: "answer", message: text, author: author, created_at: job.now.display)
    }
}

extension RequestInput {
    /// The text of an answer to support [D support-message-sizes].
    fileprivate func supportAnswer() throws -> String {
        var fields = self.fields
        fields.require("message")
        let message = fields.optionalString("message")
        if let message {
            let problem = message.isEmpty ? "must not be empty" : TextRules.tooLong(message, scalars: Retakes.maxText)
            if let problem { fields.report("message", problem) }
        }
        try fields.finish()
        return message ?? ""
    }
}

/// The new holder of a certificate.
enum CertificateHolder {
    /// The problem of an email; `nil` if it is valid.
    static func problem(email: String) -> String? { TextRules.emailProblem(email) }

    /// The problem of a name; `nil` if it is valid.
    static func problem(name: String) -> String? { TextRules.tooLong(name, bytes: 254) }
}

/// `GET /v2/authentications/{entrupy_id}/support-messages` [D support-conversations].
package struct ListSupportMessages: Operation {
    package static let access = Access.reads
    let entrupyID: String

    package init(_ entrupyID: String) {
        self.entrupyID = entrupyID
    }

    package func perform(_ job: JobContext, as partner: Partner) throws -> SupportMessageList {
        let item = try PartnerItems.record(entrupyID, of: partner.organization, job)
        return SupportMessageList(support_messages: try SupportConversations.messages(item, job))
    }
}

/// `GET /sdk/results/{entrupy_id}/support-messages` [D support-conversations].
package struct ListUserSupportMessages: Operation {
    package static let access = Access.reads
    let entrupyID: String

    package init(_ entrupyID: String) {
        self.entrupyID = entrupyID
    }

    package func perform(_ job: JobContext, as user: SDKUser) throws -> SupportMessageList {
        let item = try Results.find(entrupyID, of: user, job)
        return SupportMessageList(support_messages: try SupportConversations.messages(item, job))
    }
}

/// `POST /v2/authentications/{entrupy_id}/support-messages`: the organization's back end answers support.
package struct AnswerSupport: Operation {
    package static let access = Access.writes
    let entrupyID: String
    let message: String

    package init(_ input: some RequestInput) throws {
        entrupyID = input.path("entrupy_id")
        message = try input.supportAnswer()
    }

    package func perform(_ job: JobContext, as partner: Partner) throws -> SupportMessage {
        let item = try PartnerItems.record(entrupyID, of: partner.organization, job)
        return try SupportConversations.answer(item, message, by: partner.organization.name, job)
    }
}

/// `POST /sdk/results/{entrupy_id}/support-messages`: the user answers support.
package struct AnswerSupportAsUser: Operation {
    package static let access = Access.writes
    let entrupyID: String
    let message: String

    package init(_ input: some RequestInput) throws {
        entrupyID = input.path("entrupy_id")
        message = try input.supportAnswer()
    }

    package func perform(_ job: JobContext, as user: SDKUser) throws -> SupportMessage {
        let item = try Results.find(entrupyID, of: user, job)
        return try SupportConversations.answer(item, message, by: user.username, job)
    }
}
