import Console
import Entrupy
import Mustache
import Resources

/// A certificate as an HTML page and as an SVG picture [D certificates].
struct CertificatePage {
    let language: String
    let brand: String
    let style: String?
    let styleCode: String?
    let serialNumber: String?
    let result: String
    let date: String
    let entrupyID: String
    let certificateID: String
    let customerItemID: String?
    let owner: String?
    let organization: String
    let holder: String?
    let photo: String?
    let url: String
    let label: Labels

    struct Labels {
        let title: String
        let issuedTo: String
        let holder: String
        let date: String
        let item: String
        let customerItem: String
        let styleCode: String
        let serialNumber: String
        let certificate: String
        let submittedBy: String
        let photo: String
        let note: String
        let share: String
    }

    init(_ facts: CertificateDetails) {
        language = facts.language.rawValue
        brand = facts.brand.printable
        style = facts.style?.printable
        styleCode = facts.styleCode?.printable
        serialNumber = facts.serialNumber?.printable
        result = facts.result
        date = facts.date
        entrupyID = facts.entrupyID
        certificateID = facts.certificateID
        customerItemID = facts.customerItemID?.printable
        owner = facts.owner?.printable
        organization = facts.organization
        holder = facts.holder?.printable
        photo = facts.photo
        url = facts.url
        label = facts.language == .japanese ? .japanese : .english
    }

    private static let pageTemplate = Result { try EscapedHTML.template(Resource.text("pages/certificate.mustache")) }
    private static let pictureTemplate = Result { try EscapedHTML.template(Resource.text("pages/sharable.mustache")) }

    /// - Throws: an error if the template is broken. A test rules that out.
    func text(isPicture: Bool) throws -> String {
        try (isPicture ? Self.pictureTemplate : Self.pageTemplate).get().render(self)
    }
}

extension String {
    /// The text without characters that XML does not allow: control characters and noncharacters.
    fileprivate var printable: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.filter {
                    $0.value >= 0x20 && $0.value != 0x7f && $0.value != 0xfffe && $0.value != 0xffff
                }))
    }
}

extension CertificatePage.Labels {
    static let english = CertificatePage.Labels(
        title: "Certificate of authenticity", issuedTo: "Issued to", holder: "Held by", date: "Date", item: "Item",
        customerItem: "Customer's item", styleCode: "Style code", serialNumber: "Serial number",
        certificate: "Certificate",
        submittedBy: "Submitted through",
        photo: "Photo of the item", note: "Made by a simulator: it certifies nothing.", share: "As a picture")
    static let japanese = CertificatePage.Labels(
        title: "鑑定書", issuedTo: "発行先", holder: "現在の所有者", date: "鑑定日", item: "商品", customerItem: "お客様の商品ID",
        styleCode: "品番", serialNumber: "シリアル番号",
        certificate: "鑑定書番号", submittedBy: "申請元", photo: "商品の写真", note: "シミュレーターが作成したもので、何も証明しません。",
        share: "画像で見る")
}
