import GRDB

/// A change of the schema that a platform adds to ``Schema/migrator``. Never edited once released.
package struct Migration: Sendable {
    /// Unique among all migrations. Every database stores the names of those it has.
    package let name: String
    let statements: [String]

    /// - Parameter statements: SQL that is executed in this order.
    package init(_ name: String, _ statements: String...) {
        self.name = name
        self.statements = statements
    }
}

/// The tables of a namespace's database. Migrations are named, and never edited once released.
package enum Schema {
    /// The migrations of every namespace, in the order of their release.
    package static var migrator: DatabaseMigrator { migrator(appending: []) }

    /// - Parameter migrations: those of the platforms, in the order of their release. They run after those of every namespace.
    package static func migrator(appending migrations: [Migration]) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for migration in ofEveryNamespace + migrations {
            migrator.registerMigration(migration.name) { database in
                for sql in migration.statements { try database.execute(sql: sql) }
            }
        }
        return migrator
    }

    private static let ofEveryNamespace = [
        Migration("tables", world, people, captures, items, partner, webhooks, rules, time, causes)
    ]

    /// The namespace's own values, and the counters that its ids are derived from.
    private static let world = """
        CREATE TABLE world (
            key TEXT PRIMARY KEY,
            value TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE counters (
            kind TEXT PRIMARY KEY,
            value INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    private static let people = """
        CREATE TABLE organizations (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            sdk_flagging INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE api_tokens (
            token TEXT PRIMARY KEY,
            organization_id INTEGER NOT NULL REFERENCES organizations(id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX api_tokens_by_organization ON api_tokens (organization_id, token);

        CREATE TABLE bundles (
            organization_id INTEGER NOT NULL REFERENCES organizations(id),
            bundle_id TEXT NOT NULL,
            PRIMARY KEY (organization_id, bundle_id)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE users (
            id INTEGER PRIMARY KEY,
            organization_id INTEGER NOT NULL REFERENCES organizations(id),
            username TEXT NOT NULL UNIQUE,
            unique_user_id TEXT NOT NULL,
            email TEXT,
            first_name TEXT,
            last_name TEXT,
            is_test_user INTEGER NOT NULL,
            submissions INTEGER NOT NULL DEFAULT 0,
            created_at INTEGER NOT NULL,
            rate_limits TEXT
        ) STRICT;

        CREATE TABLE partner_users (
            organization_id INTEGER NOT NULL REFERENCES organizations(id),
            username TEXT NOT NULL UNIQUE,
            password TEXT NOT NULL,
            unique_user_id TEXT NOT NULL,
            email TEXT NOT NULL,
            first_name TEXT,
            last_name TEXT
        ) STRICT;
        CREATE INDEX partner_users_by_organization ON partner_users (organization_id, username);

        CREATE TABLE signed_requests (
            id TEXT PRIMARY KEY,
            user_id INTEGER NOT NULL REFERENCES users(id),
            bundle_id TEXT,
            issued_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            used_at INTEGER
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE sessions (
            token TEXT PRIMARY KEY,
            user_id INTEGER NOT NULL REFERENCES users(id),
            bundle_id TEXT,
            created_at INTEGER NOT NULL,
            soft_expires_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            ended_at INTEGER,
            end_reason TEXT
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX sessions_by_user ON sessions (user_id, ended_at);

        -- Successful logins, for the windows of a minute and a day.
        CREATE TABLE logins (
            user_id INTEGER NOT NULL REFERENCES users(id),
            at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX logins_by_user ON logins (user_id, at);
        """

    private static let captures = """
        CREATE TABLE captures (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            user_id INTEGER NOT NULL REFERENCES users(id),
            status TEXT NOT NULL,
            config_type TEXT NOT NULL,
            category TEXT NOT NULL,
            item TEXT NOT NULL,
            started_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            submitted_at INTEGER,
            ended_at INTEGER,
            entrupy_id TEXT,
            retake_id TEXT
        ) STRICT;
        CREATE INDEX captures_by_user ON captures (user_id, position);
        CREATE INDEX captures_by_user_and_status ON captures (user_id, status, position);

        CREATE TABLE capture_images (
            capture_id TEXT NOT NULL REFERENCES captures(id),
            region_id TEXT NOT NULL,
            sha256 TEXT NOT NULL,
            bytes INTEGER NOT NULL,
            media_type TEXT NOT NULL,
            uploaded_at INTEGER NOT NULL,
            -- 0 once a cancelled or timed-out capture has released it. The row still says that the region had one.
            in_use INTEGER NOT NULL DEFAULT 1,
            PRIMARY KEY (capture_id, region_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX capture_images_in_use ON capture_images (sha256) WHERE in_use = 1;
        """

    private static let items = """
        CREATE TABLE items (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            entrupy_id TEXT NOT NULL UNIQUE,
            capture_id TEXT,
            organization_id INTEGER NOT NULL REFERENCES organizations(id),
            user_id INTEGER NOT NULL REFERENCES users(id),
            config_type TEXT NOT NULL,
            category TEXT NOT NULL,
            brand_id TEXT NOT NULL,
            brand_name TEXT NOT NULL,
            customer_item_id TEXT,
            metadata TEXT NOT NULL,
            capture_started_at INTEGER,
            submitted_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            result_id TEXT NOT NULL,
            result_final INTEGER NOT NULL,
            result_reason TEXT,
            result_at INTEGER,
            initial_result_id TEXT,
            initial_result_at INTEGER,
            decided_by TEXT NOT NULL,
            planned_result_id TEXT,
            planned_reason TEXT,
            flag_id TEXT NOT NULL,
            flag_reason_id TEXT,
            flag_message TEXT,
            flagged_at INTEGER,
            flag_resolved_at INTEGER,
            flag_note TEXT,
            certificate_id TEXT,
            revision INTEGER NOT NULL,
            -- The rendering for the SDK in English, and the key it was made under; both null if it must be made again.
            rendering_key INTEGER,
            sdk_rendering BLOB,
            catalog TEXT,
            certificate_holder TEXT
        ) STRICT;
        CREATE INDEX items_by_certificate ON items (certificate_id) WHERE certificate_id IS NOT NULL;

        -- An index for each search filter, each in the order of the pages.
        CREATE INDEX items_by_user ON items (user_id, submitted_at DESC, entrupy_id);
        CREATE INDEX items_by_user_and_brand ON items (user_id, brand_id, submitted_at DESC, entrupy_id);
        CREATE INDEX items_by_user_and_result ON items (user_id, result_id, submitted_at DESC, entrupy_id);
        CREATE INDEX items_by_user_brand_and_result
            ON items (user_id, brand_id, result_id, submitted_at DESC, entrupy_id);
        CREATE INDEX items_by_user_and_flag ON items (user_id, flag_id, submitted_at DESC, entrupy_id);
        CREATE INDEX items_by_user_and_category ON items (user_id, category, submitted_at DESC, entrupy_id);
        CREATE INDEX items_by_user_and_customer_item_id
            ON items (user_id, customer_item_id, submitted_at DESC, entrupy_id);
        """

    /// Searches across an organization, retakes, and the example backend's sessions.
    private static let partner = """
        CREATE INDEX items_by_organization ON items (organization_id, submitted_at DESC, entrupy_id);
        CREATE INDEX items_by_organization_and_brand
            ON items (organization_id, brand_id, submitted_at DESC, entrupy_id);
        CREATE INDEX items_by_organization_and_result
            ON items (organization_id, result_id, submitted_at DESC, entrupy_id);
        CREATE INDEX items_by_organization_brand_and_result
            ON items (organization_id, brand_id, result_id, submitted_at DESC, entrupy_id);
        CREATE INDEX items_by_organization_and_flag ON items (organization_id, flag_id, submitted_at DESC, entrupy_id);
        CREATE INDEX items_by_organization_and_category
            ON items (organization_id, category, submitted_at DESC, entrupy_id);
        CREATE INDEX items_by_organization_and_customer_item_id
            ON items (organization_id, customer_item_id, submitted_at DESC, entrupy_id);

        -- What the platform's support asks of users: pictures to be taken again.
        CREATE TABLE retakes (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            entrupy_id TEXT NOT NULL,
            user_id INTEGER NOT NULL REFERENCES users(id),
            regions TEXT NOT NULL,
            message TEXT,
            asked_at INTEGER NOT NULL,
            answered_at INTEGER,
            capture_id TEXT
        ) STRICT;
        CREATE INDEX retakes_by_item ON retakes (entrupy_id, position);
        CREATE INDEX retakes_open ON retakes (user_id, position) WHERE answered_at IS NULL;

        CREATE TABLE partner_sessions (
            token TEXT PRIMARY KEY,
            username TEXT NOT NULL REFERENCES partner_users(username)
        ) STRICT, WITHOUT ROWID;
        """

    /// Webhook subscriptions, their deliveries, and the delivery attempts.
    private static let webhooks = """
        CREATE TABLE subscriptions (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            organization_id INTEGER NOT NULL REFERENCES organizations(id),
            username TEXT,
            version TEXT NOT NULL,
            url TEXT NOT NULL,
            secret TEXT NOT NULL,
            events TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            format TEXT NOT NULL,
            signature TEXT NOT NULL,
            -- What the domain must answer; null if it is not asked.
            verification TEXT,
            is_pending INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX subscriptions_by_organization ON subscriptions (organization_id, position);

        -- The body is made once; every attempt sends the same bytes.
        CREATE TABLE deliveries (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            subscription_id TEXT NOT NULL,
            entrupy_id TEXT NOT NULL,
            event TEXT NOT NULL,
            event_id TEXT NOT NULL,
            body BLOB NOT NULL,
            created_at INTEGER NOT NULL,
            status TEXT NOT NULL,
            attempts INTEGER NOT NULL,
            next_attempt_at INTEGER,
            -- The rule that struck an attempt, its effect, and which attempt that is.
            fault_id TEXT,
            fault_effect TEXT,
            fault_attempt INTEGER,
            -- Whether it lets the item's next one go first.
            is_held INTEGER NOT NULL DEFAULT 0,
            format TEXT NOT NULL,
            cause TEXT,
            trace TEXT
        ) STRICT;
        -- Those that are not over, in the order of each item and subscription.
        CREATE INDEX deliveries_open ON deliveries (subscription_id, entrupy_id, position) WHERE \(isOpenDelivery);
        CREATE INDEX deliveries_by_cause ON deliveries (cause) WHERE cause IS NOT NULL;

        CREATE TABLE attempts (
            delivery_id TEXT NOT NULL,
            number INTEGER NOT NULL,
            at INTEGER NOT NULL,
            status INTEGER,
            error TEXT,
            milliseconds REAL NOT NULL,
            answer TEXT,
            fault_id TEXT,
            -- The form of the signature; null for attempts that are not signed.
            signature TEXT,
            PRIMARY KEY (delivery_id, number)
        ) STRICT, WITHOUT ROWID;
        """

    /// Rules of the control API: outcomes and faults.
    private static let rules = """
        CREATE TABLE rules (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            kind TEXT NOT NULL,
            document TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            seen INTEGER NOT NULL,
            hits INTEGER NOT NULL
        ) STRICT;
        """

    /// The event log, and the work that is due later.
    private static let time = """
        CREATE TABLE events (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            data TEXT NOT NULL,
            cause TEXT
        ) STRICT;
        CREATE INDEX events_of_items ON events (subject, sequence) WHERE \(isOfItem);
        CREATE INDEX events_by_cause ON events (cause, sequence) WHERE \(isNotOfRequest);

        CREATE TABLE due (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            due_at INTEGER NOT NULL,
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            cause TEXT,
            trace TEXT
        ) STRICT;
        CREATE INDEX due_by_time ON due (due_at, id);
        CREATE INDEX due_results ON due (subject) WHERE kind = 'result';
        CREATE INDEX due_by_cause ON due (cause) WHERE cause IS NOT NULL;
        """

    /// The causes of events, scheduled work and deliveries.
    private static let causes = """
        -- Work that was due and changed something. Its id is the one that it had in due.
        CREATE TABLE past_work (
            id INTEGER PRIMARY KEY,
            at INTEGER NOT NULL,
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            cause TEXT
        ) STRICT;
        CREATE INDEX past_work_by_cause ON past_work (cause) WHERE cause IS NOT NULL;

        -- Control calls that changed something.
        CREATE TABLE control_calls (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            line TEXT NOT NULL
        ) STRICT;
        """

    /// Whether an event was not caused by a request, whose events the journal finds. Part of an index; never edited once released.
    static let isNotOfRequest = "cause IS NOT NULL AND cause NOT GLOB 'sequence:*'"

    // Index conditions have no `IN` of more than two values: SQLite builds a table with an index for such a list, each time it writes or
    // looks up a row that the index may hold. That took a third of the time of one row of the event log.

    /// Whether an event can belong to an item. Part of an index; never edited once released.
    package static let isOfItem = """
        kind <> 'capture.started' AND kind <> 'image.uploaded' AND kind <> 'capture.submitted'
        AND kind <> 'session.started' AND kind <> 'session.ended' AND kind <> 'session.expired'
        """

    /// Whether a delivery is still open. Part of an index; never edited once released.
    static let isOpenDelivery = "(status = 'waiting' OR status = 'sending' OR status = 'retrying')"
}
