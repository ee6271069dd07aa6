import EntrupySDK
import SwiftUI
import UIKit

/// The items of the shop, each with a button that authenticates it.
struct ItemList: View {
    @StateObject private var authenticator = Authenticator()
    private let items = ["Air Jordan 1", "Dunk Low", "Air Max 90"]

    var body: some View {
        NavigationView {
            List(items, id: \.self) { name in
                HStack {
                    VStack(alignment: .leading) {
                        Text(name)
                        Text(authenticator.results[name] ?? "Not authenticated").font(.caption)
                    }
                    Spacer()
                    Button("Authenticate") { authenticator.authenticate(name, from: presenter) }
                        .disabled(!authenticator.isLoggedIn)
                }
            }
            .navigationTitle("Shop")
            .alert(item: $authenticator.problem) { Alert(title: Text($0.text)) }
            .task { await authenticator.logIn() }
        }
    }

    private var presenter: UIViewController {
        let scenes = UIApplication.shared.connectedScenes.compactMap { $0 as? UIWindowScene }
        return scenes.first?.windows.first?.rootViewController ?? UIViewController()
    }
}
