import Console
import Entrupy
import Mustache
import Resources

/// A certificate as an HTML page and as an SVG picture [D certificates].
enum CertificatePage {
    private static let pageTemplate = Result { try EscapedHTML.template(Resource.text("pages/certificate.mustache")) }
    private static let pictureTemplate = Result { try EscapedHTML.template(Resource.text("pages/sharable.mustache")) }

    /// The page or picture. The templates name the facts as ``Entrupy/CertificateDetails`` does.
    ///
    /// - Throws: an error if the template is broken. A test rules that out.
    static func text(_ facts: CertificateDetails, isPicture: Bool) throws -> String {
        let isJapanese = facts.language == .japanese
        var page: [String: Any] = [
            "language": facts.language.rawValue,
            "label": labels.mapValues { isJapanese ? $0.japanese : $0.english },
        ]
        for (name, value) in Mirror(reflecting: facts).children {
            if let name, let text = value as? String { page[name] = text.printable }
        }
        return try (isPicture ? pictureTemplate : pageTemplate).get().render(page)
    }

    private static let labels: [String: (english: String, japanese: String)] = [
        "title": ("Certificate of authenticity", "鑑定書"),
        "issuedTo": ("Issued to", "発行先"),
        "holder": ("Held by", "現在の所有者"),
        "date": ("Date", "鑑定日"),
        "item": ("Item", "商品"),
        "customerItem": ("Customer's item", "お客様の商品ID"),
        "styleCode": ("Style code", "品番"),
        "serialNumber": ("Serial number", "シリアル番号"),
        "certificate": ("Certificate", "鑑定書番号"),
        "submittedBy": ("Submitted through", "申請元"),
        "photo": ("Photo of the item", "商品の写真"),
        "note": ("Made by a simulator: it certifies nothing.", "シミュレーターが作成したもので、何も証明しません。"),
        "share": ("As a picture", "画像で見る"),
    ]
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
