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
            guard let type = types[event.kind] else { return nil }
            let data = try StoredJSON.members(event.data)
            return SupportMessage(
                id: (data["id"] ?? data["retake_id"])?.text ?? "", type: type, message: data["message"]?.text,
                options: texts(data["options"]), regions: texts(data["regions"]), author: data["author"]?.text,
                created_at: event.at.wholeSeconds)
        }
    }

    private static let types = [
        EventKind.retakeRequested.name: "retake", EventKind.supportMessage.name: "question",
        EventKind.supportAnswered.name: "answer",
    ]

    private static func texts(_ value: JSONValue?) -> [String]? { value?.elements.map { $0.compactMap(\.text) } }

    /// The maximum number of answers to one message from support. Each answer reads all of them.
    static let maxAnswers = 100

    /// Records an answer. Throws if support asked nothing, if the message has ``maxAnswers`` already, and if the answer
    /// is not one of the last question's options. Writes.
    static func answer(
        _ item: ItemRecord, _ text: String, by author: String, _ job: JobContext
    ) throws -> SupportMessage {
        let messages = try messages(item, job)
        guard let index = messages.lastIndex(where: { $0.type != "answer" }) else {
            throw PlatformError.wrongState(
                "support has asked nothing about this item",
                because: Because(
                    "\(item.entrupyID) has no message from support and no retake", item.entrupyID, [.itemSubmitted]))
        }
        guard messages.count - index - 1 < maxAnswers else {
            throw PlatformError.wrongState(
                "support's last message has \(maxAnswers) answers already",
                because: Because(
                    "support's message \(messages[index].id) has \(maxAnswers) answers, the limit of the simulator",
                    item.entrupyID, [.supportAnswered]))
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
        return SupportMessage(id: id, type: "answer", message: text, author: author, created_at: job.now.wholeSeconds)
    }
}

/// `GET /sdk/results/{entrupy_id}/support-messages`, and the same of `/v2/authentications` [D support-conversations].
package enum ListSupportMessages<Owner: ItemOwner>: RuleByID, Reads {
    package static func perform(_ entrupyID: String, _ job: JobContext, as owner: Owner) throws -> SupportMessageList {
        SupportMessageList(support_messages: try SupportConversations.messages(owner.item(entrupyID, job), job))
    }
}

/// `POST /sdk/results/{entrupy_id}/support-messages`, and the same of `/v2/authentications`: the user or the
/// organization's back end answers support.
package struct AnswerSupport<Owner: ItemOwner>: Operation, Writes {
    let entrupyID: String
    let message: String

    /// Reads the text of the answer [D support-message-sizes].
    package init(_ input: some RequestInput) throws {
        entrupyID = input.path("entrupy_id")
        var fields = input.fields
        fields.require("message")
        let message = fields.optionalString("message")
        if let message {
            let problem = message.isEmpty ? "must not be empty" : TextRules.tooLong(message, scalars: Retakes.maxText)
            if let problem { fields.report("message", problem) }
        }
        try fields.finish()
        self.message = message ?? ""
    }

    package func perform(_ job: JobContext, as owner: Owner) throws -> SupportMessage {
        try SupportConversations.answer(owner.item(entrupyID, job), message, by: owner.author, job)
    }
}
