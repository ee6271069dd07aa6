import Storage

/// The tables of App Components, in the order of their release.
package enum ComponentMigrations {
    package static let all = [Migration("app components", appComponents)]

    private static let appComponents = """
        CREATE TABLE component_codes (
            code TEXT PRIMARY KEY,
            organization_id INTEGER NOT NULL REFERENCES organizations (id),
            workflow_id TEXT NOT NULL,
            -- The person that the code is for, a JSON object.
            client TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            used_at INTEGER
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE component_sessions (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            -- Null in the mock environment, which belongs to no organization.
            organization_id INTEGER REFERENCES organizations (id),
            environment TEXT NOT NULL,
            workflow_id TEXT NOT NULL,
            client TEXT NOT NULL,
            started_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            ended_at INTEGER,
            end_reason TEXT
        ) STRICT;

        -- A component of a session that was started.
        CREATE TABLE component_runs (
            session_id TEXT NOT NULL REFERENCES component_sessions (id),
            component TEXT NOT NULL,
            status TEXT NOT NULL,
            document_type TEXT,
            issuing_country TEXT,
            -- Where the pictures are taken, a JSON object; null if it is not known.
            location TEXT,
            started_at INTEGER NOT NULL,
            ended_at INTEGER,
            -- The name of the error that ended it.
            error TEXT,
            PRIMARY KEY (session_id, component)
        ) STRICT, WITHOUT ROWID;

        -- The pictures and videos of a component.
        CREATE TABLE component_files (
            session_id TEXT NOT NULL,
            component TEXT NOT NULL,
            -- The side of the document, `selfie` or `video`.
            name TEXT NOT NULL,
            is_angled INTEGER NOT NULL,
            sha256 TEXT NOT NULL,
            bytes INTEGER NOT NULL,
            media_type TEXT NOT NULL,
            -- The judgement of a picture; null for videos, and without real-time feedback.
            quality TEXT,
            -- The length of a video in milliseconds.
            duration INTEGER,
            uploads INTEGER NOT NULL,
            uploaded_at INTEGER NOT NULL,
            in_use INTEGER NOT NULL,
            PRIMARY KEY (session_id, component, name, is_angled),
            FOREIGN KEY (session_id, component) REFERENCES component_runs (session_id, component)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX component_files_in_use ON component_files (sha256) WHERE in_use = 1;

        -- People who were rejected: no further code is made for them.
        CREATE TABLE component_rejections (
            organization_id INTEGER NOT NULL REFERENCES organizations (id),
            client_id TEXT NOT NULL,
            at INTEGER NOT NULL,
            PRIMARY KEY (organization_id, client_id)
        ) STRICT, WITHOUT ROWID;
        """
}
