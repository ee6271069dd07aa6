import NIOCore
import Platform

extension ServerAddress {
    /// The address a server channel is bound to; bound to every address, those of all interfaces as they are now.
    init(of channel: any Channel, port: Int, publicURL: String) {
        let bound = channel.localAddress?.ipAddress
        let isAnywhere = ["0.0.0.0", "::"].contains(bound)
        let devices = isAnywhere ? (try? System.enumerateDevices()) ?? [] : []
        self.init(
            port: port, addresses: isAnywhere ? devices.compactMap(\.address?.ipAddress) : [bound].compactMap(\.self),
            publicURL: publicURL)
    }
}
