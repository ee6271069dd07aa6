import Simulation

/// The item of an action, given by one of two ids.
///
/// A `customer_item_id`, which may be a glob, means the latest matching item. An `entrupy_id` means exactly that
/// item.
struct ScenarioTarget: Sendable {
    private let customerItemID: String?
    private let entrupyID: String?

    static let members = ["customer_item_id", "entrupy_id"]

    init(_ fields: inout FieldReader) {
        customerItemID = fields.text("customer_item_id")
        entrupyID = fields.text("entrupy_id")
        if (customerItemID == nil) == (entrupyID == nil) {
            fields.report("customer_item_id", "must be given, or else entrupy_id, but not both")
        }
    }

    /// The item's id.
    ///
    /// - Throws: ``PlatformError/notFound(_:)``.
    func find(_ job: JobContext) throws -> String {
        if let entrupyID { return entrupyID }
        guard let customerItemID, let found = try job.transaction.latestItem(customerItemID: customerItemID) else {
            throw PlatformError.notFound("there is no item with the customer_item_id \"\(customerItemID ?? "")\"")
        }
        return found
    }
}
