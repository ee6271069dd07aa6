// The names of UIKit that the SDKs' interfaces and their vendors' examples need, where there is no UIKit. They show nothing
// [D client-views]. Where there is UIKit, this module hands it on instead, as the vendors' frameworks do, and declares nothing that
// UIKit has.

#if canImport(UIKit)
    @_exported import UIKit
#else
    // UIKit hands on Foundation.
    @_exported import Foundation
#endif
