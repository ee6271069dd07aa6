import EntrupyAPI
import EntrupyStorage
import Simulation
import Storage

/// Renders an item as the SDK decodes it.
///
/// `model` is made from `style_name`, `function` from apparel's `item_type` [D model-and-function].
struct ResultRendering {
    private let job: JobContext
    private var language: Language { job.language }

    init(_ job: JobContext) {
        self.job = job
    }

    /// An item as it is shown now.
    func shown(_ item: ItemRecord) throws -> EntrupyCaptureResult {
        var rendering = try render(item)
        if FlagWindow.isOver(item, job) { rendering.status.flag.is_flaggable = false }
        return rendering
    }

    /// An item as it is stored and cached, without what changes with time alone.
    func render(_ item: ItemRecord) throws -> EntrupyCaptureResult {
        let metadata = try ItemMetadata(stored: item.metadata)
        let (user, organization) = try job.owner(of: item)
        return EntrupyCaptureResult(
            entrupy_id: item.entrupyID,
            properties: .init(
                brand: .init(id: item.brandID, display: ["name": item.brandName]),
                model: metadata.text(.styleName).map { .init(id: ItemMetadata.identifier($0), display: ["name": $0]) },
                function: function(item, metadata)),
            status: .init(
                flag: .init(id: item.flag, is_flaggable: Flags.isFlaggable(item, organization, job)),
                result: result(item), eta: try eta(item)),
            timestamp: item.submittedAt.timestamp,
            event_times: .init(
                submitted_at: item.submittedAt.timestamp, result_returned_at: item.resultAt?.timestamp,
                initial_result_set_at: item.initialResultAt?.timestamp,
                capture_started_at: item.captureStartedAt?.timestamp),
            events: try events(item), images: try images(item),
            more_details: certificate(item).map { .init(certificate: $0) },
            text_fields: textFields(item, metadata), user: .init(username: user.username),
            price: .init(show_pricing_widget: false),
            batch_request: try Retakes.open(item.entrupyID, job).map { _ in .init(customer_state: "batch_open") })
    }

    /// Apparel's item type [P]; `nil` for other categories.
    private func function(_ item: ItemRecord, _ metadata: ItemMetadata) -> EntrupyCaptureResult.Properties.Identified? {
        guard item.category.isIdentical(to: Catalogue.apparel), let text = metadata.text(.itemType) else { return nil }
        return .init(id: metadata.itemType(job.catalogue)?.id ?? ItemMetadata.identifier(text))
    }

    /// The time at which the result is expected; `nil` if none is planned, or a retake is awaited [D eta].
    func eta(_ item: ItemRecord) throws -> EntrupyCaptureResult.Timestamp? { try dueTime(item)?.timestamp }

    /// The time at which the result is expected; `nil` if it is final, or none is planned.
    func dueTime(_ item: ItemRecord) throws -> Instant? {
        item.resultFinal ? nil : try job.transaction.resultDueTime(entrupyID: item.entrupyID)
    }

    func result(_ item: ItemRecord) -> EntrupyCaptureResult.Status.Result {
        let texts = job.catalogue.texts
        let reason = item.resultReason.map { id in
            EntrupyCaptureResult.Status.Result.Display.Reason(
                text: texts.invalidReasons.first { $0.id.isIdentical(to: id) }?.text[language])
        }
        return .init(
            id: item.result,
            display: .init(
                header: texts.result(item.result)?.header[language] ?? item.result.rawValue,
                message: texts.result(item.result)?.message[language], reasons: reason.map { [$0] }),
            final: item.resultFinal, reason: item.resultReason)
    }

    /// The timeline: the events that have a text in the seed data [D timeline].
    private func events(_ item: ItemRecord) throws -> [EntrupyCaptureResult.TimelineEvent] {
        let texts = job.catalogue.texts
        return try Results.timeline(item, job).compactMap { event in
            guard let text = texts.events[event.kind] else { return nil }
            let data = try StoredJSON.members(event.data)
            let header = data["result"]?.text.flatMap { texts.result(ResultID(rawValue: $0))?.header[language] }
            return .init(
                label: text.label[language], title: text.title[language], type: event.kind,
                message: data["note"]?.text ?? data["message"]?.text ?? header, timestamp: event.at.timestamp)
        }
    }

    private func images(_ item: ItemRecord) throws -> EntrupyCaptureResult.Images? {
        let pictures = try pictures(item)
        guard item.captureID != nil || !pictures.isEmpty else { return nil }
        let uploaded = pictures.map { picture in
            EntrupyCaptureResult.Images.UploadedImage(
                urls: .init(original: picture.url, scale_micro: picture.smallURL),
                display_name: picture.step.displayName[language])
        }
        return .init(item_photo: uploaded.first?.urls.original, uploaded_images: uploaded)
    }

    /// An item's images in the order of the workflow, for each region the one taken last. Empty if there is no capture.
    func pictures(_ item: ItemRecord) throws -> [(step: Catalogue.Step, url: String, smallURL: String, bytes: Int)] {
        guard let category = job.catalogue.category(item.category) else { return [] }
        let retakes = try job.transaction.retakes(entrupyID: item.entrupyID).compactMap(\.captureID)
        let records = try ([item.captureID].compactMap(\.self) + retakes).reversed().flatMap {
            try job.transaction.captureImages(captureID: $0)
        }
        return category.steps(item.configType).compactMap { step in
            records.first { $0.regionID.isIdentical(to: step.regionID) }.map { record in
                let url = "\(job.publicURL)/images/\(record.sha256)"
                return (step, url + "/original", url + "/scale_micro", record.bytes)
            }
        }
    }

    /// The certificate; `nil` unless the result is authentic [D certificate-while-authentic]. Its site is an image too before
    /// version 1.3 of the partner API [P].
    func certificate(
        _ item: ItemRecord, preview: CertificatePreview = .sharable
    ) -> EntrupyCaptureResult.MoreDetails.Certificate? {
        certificateID(item).map { id in
            let page = job.certificateURL(id)
            let image = "\(page)?format=\(preview.rawValue)"
            return .init(preview: image, site: preview == .legacy ? image : page)
        }
    }

    /// The form of a certificate's image: `legacy` before version 1.3 of the partner API [P, D certificate-preview].
    enum CertificatePreview: String {
        case legacy, sharable
    }

    /// The id of the current certificate; `nil` unless the result is authentic.
    func certificateID(_ item: ItemRecord) -> String? { item.result == .authentic ? item.certificateID : nil }

    private func textFields(_ item: ItemRecord, _ metadata: ItemMetadata) -> [EntrupyCaptureResult.TextField] {
        let required = job.catalogue.category(item.category)?.requiredFields ?? []
        return ItemField.shown.compactMap { field in
            guard let content = metadata.text(field) else { return nil }
            return .init(
                display_name: job.catalogue.texts.textFields[field.rawValue]?[language] ?? field.rawValue,
                editable: false, required: required.contains(field.rawValue),
                is_identifier: field == .customerItemID, content: content, region_id: nil)
        }
    }
}

extension Instant {
    var timestamp: EntrupyCaptureResult.Timestamp { .init(display: display, epoch: epoch) }
}
