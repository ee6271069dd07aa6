import EntrupyAPI
import Hummingbird
import Platform

/// The routes of `/v1` and `/v2` for users' items, for a customer's backend.
struct PartnerController {
    let bodies: BodyReader

    var endpoints: RouteCollection<SimContext> {
        RouteCollection(context: SimContext.self)
            .get("v1/authentications/{entrupy_id}") { await show($0, $1, .v1()) }
            .get("v2/authentications/{entrupy_id}") { await show($0, $1, .v2) }
            .get("v1/lookup/authentications/{lookup_value}") { await lookUp($0, $1, .v1()) }
            .get("v2/lookup/authentications/{lookup_value}") { await lookUp($0, $1, .v2) }
            .post("v1/search/authentications") { await search($0, $1, .v1()) }
            .post("v2/search/authentications") { await search($0, $1, .v2) }
            .post("v2/authentications/{entrupy_id}/flag", use: flag)
            .delete("v2/authentications/{entrupy_id}/flag", use: clearFlag)
            .post("v2/config/authentications", use: configuration)
            .post("v2/catalog/brands", use: brands)
    }

    @Sendable private func show(_ request: Request, _ context: SimContext, _ surface: PartnerSurface) async -> Response
    {
        let reader = RequestReader(request, context, bodies: bodies)
        return await reader.answer(on: surface) {
            ShowPartnerItem(reader.path("entrupy_id"), $0.version, try PartnerParts($0))
        }.encodedResponse()
    }

    @Sendable private func lookUp(
        _ request: Request, _ context: SimContext, _ surface: PartnerSurface
    ) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies)
        return await reader.answer(on: surface) {
            LookUpItem(reader.path("lookup_value"), $0.version, try PartnerParts($0))
        }.encodedResponse()
    }

    @Sendable private func search(
        _ request: Request, _ context: SimContext, _ surface: PartnerSurface
    ) async -> Response {
        await RequestReader(request, context, bodies: bodies).answer(.optionalJSON, on: surface) {
            SearchPartnerItems(try SearchRequest(partner: $0.body, $0.version), $0.version)
        }.encodedResponse()
    }

    @Sendable private func flag(_ request: Request, _ context: SimContext) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies)
        return await reader.answer(.json, on: .v2) {
            try FlagPartnerItem(reader.path("entrupy_id"), PartnerFlagRequest($0.body))
        }.response()
    }

    @Sendable private func clearFlag(_ request: Request, _ context: SimContext) async -> Response {
        let reader = RequestReader(request, context, bodies: bodies)
        return await reader.answer(on: .v2) { _ in try FlagPartnerItem(reader.path("entrupy_id"), nil) }.response()
    }

    @Sendable private func configuration(_ request: Request, _ context: SimContext) async -> Response {
        await RequestReader(request, context, bodies: bodies).answer(.optionalJSON, on: .v2) { _ in
            FetchPartnerConfiguration()
        }.response()
    }

    @Sendable private func brands(_ request: Request, _ context: SimContext) async -> Response {
        await RequestReader(request, context, bodies: bodies).answer(.optionalJSON, on: .v2) { _ in ListBrands() }
            .response()
    }
}

extension PartnerParts {
    /// Reads the optional parts that a v2 query asks for. v1 has no such parameters and ignores them.
    fileprivate init(_ input: RequestInput) throws {
        guard input.version == .v2 else {
            self.init()
            return
        }
        var query = input.query
        let images = query.flag("include_images")
        let catalog = query.flag("include_catalog")
        try query.finish()
        self.init(images: images, catalog: catalog)
    }
}
