import Mustache

// The members as the template asks for them. Without these, each would be found by reflection, which took most of the time of
// the page.
extension DocsPage: MustacheParent {
    func child(named member: String) -> Any? {
        switch member {
        case "title": title
        case "version": version
        case "summary": summary
        case "description": description
        case "groups": groups
        case "errors": errors
        case "shapes": shapes
        case "quoting": quoting
        default: nil
        }
    }
}

extension DocsPage.Group: MustacheParent {
    func child(named member: String) -> Any? {
        switch member {
        case "name": name
        case "description": description
        case "operations": operations
        default: nil
        }
    }
}

extension DocsPage.Operation: MustacheParent {
    func child(named member: String) -> Any? {
        switch member {
        case "id": id
        case "method": method
        case "path": path
        case "breakablePath": breakablePath
        case "summary": summary
        case "description": description
        case "token": token
        case "needsControlToken": needsControlToken
        case "options": options
        case "hasParameters": hasParameters
        case "parameters": parameters
        case "inputs": inputs
        case "body": body
        case "answers": answers
        default: nil
        }
    }
}

extension DocsPage.Row: MustacheParent {
    func child(named member: String) -> Any? {
        switch member {
        case "name": name
        case "place": place
        case "required": required
        case "type": type
        case "description": description
        case "depth": depth
        default: nil
        }
    }
}

extension DocsPage.Input: MustacheParent {
    func child(named member: String) -> Any? {
        switch member {
        case "name": name
        case "place": place
        case "value": value
        case "placeholder": placeholder
        case "required": required
        case "token": token
        default: nil
        }
    }
}

extension DocsPage.Body: MustacheParent {
    func child(named member: String) -> Any? {
        switch member {
        case "type": type
        case "required": required
        case "mediaType": mediaType
        case "file": file
        case "rows": rows
        case "examples": examples
        case "first": first
        default: nil
        }
    }
}

extension DocsPage.Answer: MustacheParent {
    func child(named member: String) -> Any? {
        switch member {
        case "status": status
        case "shared": shared
        case "codes": codes
        case "description": description
        case "type": type
        case "headers": headers
        case "examples": examples
        default: nil
        }
    }
}

extension DocsPage.Example: MustacheParent {
    func child(named member: String) -> Any? {
        switch member {
        case "name": name
        case "text": text
        default: nil
        }
    }
}

extension DocsPage.Shape: MustacheParent {
    func child(named member: String) -> Any? {
        switch member {
        case "name": name
        case "description": description
        case "type": type
        case "rows": rows
        default: nil
        }
    }
}
