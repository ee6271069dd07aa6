/// A language display texts come in.
package enum Language: String, Sendable, CaseIterable {
    case english = "en"
    case japanese = "ja"
}

/// A text a person reads, in every language.
package struct LocalizedText: Sendable, Hashable {
    let english: String
    let japanese: String

    /// The text in a language.
    subscript(language: Language) -> String {
        switch language {
        case .english: english
        case .japanese: japanese
        }
    }
}
