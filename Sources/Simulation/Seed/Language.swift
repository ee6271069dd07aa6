/// A language of display texts.
package enum Language: String, Sendable, CaseIterable {
    case english = "en"
    case japanese = "ja"
}

/// A display text in every language.
package struct LocalizedText: Sendable, Hashable {
    package let english: String
    package let japanese: String

    package init(english: String, japanese: String) {
        self.english = english
        self.japanese = japanese
    }

    package subscript(language: Language) -> String {
        switch language {
        case .english: english
        case .japanese: japanese
        }
    }
}
