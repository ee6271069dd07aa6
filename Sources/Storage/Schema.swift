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
        Migration("one item, end to end", world, people, captures, items, time),
        Migration("search", search),
        Migration("renderings", renderings),
        Migration("fewer indexes", fewerIndexes),
        Migration("partner api", partner, webhooks),
        Migration("rules", rules),
        Migration("webhook faults", webhookFaults),
        Migration("conditions without lists", conditionsWithoutLists),
        Migration("pictures in use", picturesInUse),
        Migration("accounts of an organization", accountsOfAnOrganization),
        Migration("webhook forms", webhookForms),
        Migration("causes", causes),
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
            created_at INTEGER NOT NULL
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
            entrupy_id TEXT
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
            PRIMARY KEY (capture_id, region_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX capture_images_by_hash ON capture_images (sha256);
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
            revision INTEGER NOT NULL
        ) STRICT;
        """

    /// An index for each search filter, each in the order of the pages; and the users' own rate limits.
    private static let search = """
        ALTER TABLE users ADD COLUMN rate_limits TEXT;
        CREATE INDEX sessions_by_user ON sessions (user_id, ended_at);

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

    /// The stored rendering of an item for the SDK in English, and the key it was made under; both null if it must be
    /// rendered again.
    private static let renderings = """
        ALTER TABLE items ADD COLUMN rendering_key INTEGER;
        ALTER TABLE items ADD COLUMN sdk_rendering BLOB;
        """

    /// Removes the indexes over random ids of the most frequent rows. Due work for captures and sessions is found by
    /// its time, and their events are never looked up by subject.
    private static let fewerIndexes = """
        DROP INDEX due_by_subject;
        CREATE INDEX due_results ON due (subject) WHERE kind = 'result';
        DROP INDEX events_by_subject;
        CREATE INDEX events_of_items ON events (subject, sequence)
            WHERE kind NOT IN ('capture.started', 'image.uploaded', 'capture.submitted', 'session.started', 'session.ended',
                'session.expired');
        """

    /// Searches across an organization, certificates, and the example backend's sessions.
    private static let partner = """
        ALTER TABLE items ADD COLUMN catalog TEXT;
        ALTER TABLE items ADD COLUMN certificate_holder TEXT;
        CREATE INDEX items_by_certificate ON items (certificate_id) WHERE certificate_id IS NOT NULL;

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
        ALTER TABLE captures ADD COLUMN retake_id TEXT;

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
            created_at INTEGER NOT NULL
        ) STRICT;

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
            next_attempt_at INTEGER
        ) STRICT;
        -- Those that are not over, in the order of each item and subscription.
        CREATE INDEX deliveries_open ON deliveries (subscription_id, entrupy_id, position)
            WHERE status IN ('waiting', 'sending', 'retrying');

        CREATE TABLE attempts (
            delivery_id TEXT NOT NULL,
            number INTEGER NOT NULL,
            at INTEGER NOT NULL,
            status INTEGER,
            error TEXT,
            milliseconds REAL NOT NULL,
            answer TEXT,
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

    /// The effects of faults on deliveries.
    private static let webhookFaults = """
        -- The rule that struck an attempt, its effect, and which attempt that is.
        ALTER TABLE deliveries ADD COLUMN fault_id TEXT;
        ALTER TABLE deliveries ADD COLUMN fault_effect TEXT;
        ALTER TABLE deliveries ADD COLUMN fault_attempt INTEGER;
        -- Whether it lets the item's next one go first.
        ALTER TABLE deliveries ADD COLUMN is_held INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE attempts ADD COLUMN fault_id TEXT;
        """

    /// The event log, and the work that is due later.
    private static let time = """
        CREATE TABLE events (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            data TEXT NOT NULL
        ) STRICT;
        CREATE INDEX events_by_subject ON events (subject, sequence);

        CREATE TABLE due (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            due_at INTEGER NOT NULL,
            kind TEXT NOT NULL,
            subject TEXT NOT NULL
        ) STRICT;
        CREATE INDEX due_by_time ON due (due_at, id);
        CREATE INDEX due_by_subject ON due (subject, kind);
        """

    /// Removes `IN` with more than two values from index conditions. For such a list SQLite builds a table with an
    /// index, each time it writes or looks up a row that the index may hold. That took a third of the time of one row
    /// of the event log.
    private static let conditionsWithoutLists = """
        DROP INDEX events_of_items;
        CREATE INDEX events_of_items ON events (subject, sequence) WHERE \(isOfItem);
        DROP INDEX deliveries_open;
        CREATE INDEX deliveries_open ON deliveries (subscription_id, entrupy_id, position) WHERE \(isOpenDelivery);
        """

    /// Cancelled and timed-out captures release their images, and keep the rows that say which regions had one.
    private static let picturesInUse = """
        ALTER TABLE capture_images ADD COLUMN in_use INTEGER NOT NULL DEFAULT 1;
        UPDATE capture_images SET in_use = 0 WHERE capture_id IN (
            SELECT id FROM captures WHERE status = 'cancelled' OR status = 'timed_out');
        DROP INDEX capture_images_by_hash;
        CREATE INDEX capture_images_in_use ON capture_images (sha256) WHERE in_use = 1;
        """

    /// Statistics and exports list the accounts of each organization. Without these indexes their time grows with the
    /// product of organizations and accounts.
    private static let accountsOfAnOrganization = """
        CREATE INDEX api_tokens_by_organization ON api_tokens (organization_id, token);
        CREATE INDEX partner_users_by_organization ON partner_users (organization_id, username);
        CREATE INDEX subscriptions_by_organization ON subscriptions (organization_id, position);
        """

    /// The forms of bodies and signatures, and the verification of domains. Older subscriptions keep the form they had.
    private static let webhookForms = """
        ALTER TABLE subscriptions ADD COLUMN format TEXT NOT NULL DEFAULT 'event';
        ALTER TABLE subscriptions ADD COLUMN signature TEXT NOT NULL DEFAULT 'hex';
        -- What the domain must answer; null if it is not asked.
        ALTER TABLE subscriptions ADD COLUMN verification TEXT;
        ALTER TABLE subscriptions ADD COLUMN is_pending INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE deliveries ADD COLUMN format TEXT NOT NULL DEFAULT 'event';
        -- The form of the signature; null for attempts of older versions, which signed in hex, and unsigned ones.
        ALTER TABLE attempts ADD COLUMN signature TEXT;
        """

    /// What caused events, scheduled work and deliveries, and the trace that webhooks go on with. Rows of older versions have
    /// no cause.
    private static let causes = """
        ALTER TABLE events ADD COLUMN cause TEXT;
        CREATE INDEX events_by_cause ON events (cause, sequence) WHERE \(isNotOfRequest);
        ALTER TABLE due ADD COLUMN cause TEXT;
        ALTER TABLE due ADD COLUMN trace TEXT;
        CREATE INDEX due_by_cause ON due (cause) WHERE cause IS NOT NULL;
        ALTER TABLE deliveries ADD COLUMN cause TEXT;
        ALTER TABLE deliveries ADD COLUMN trace TEXT;
        CREATE INDEX deliveries_by_cause ON deliveries (cause) WHERE cause IS NOT NULL;

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

    /// Whether an event was not caused by a request, whose events the journal finds. Part of an index; never edited.
    static let isNotOfRequest = "cause IS NOT NULL AND cause NOT GLOB 'sequence:*'"

    /// Whether an event can belong to an item. Part of an index; never edited.
    package static let isOfItem = """
        kind <> 'capture.started' AND kind <> 'image.uploaded' AND kind <> 'capture.submitted'
        AND kind <> 'session.started' AND kind <> 'session.ended' AND kind <> 'session.expired'
        """

    /// Whether a delivery is still open. Part of an index; never edited.
    static let isOpenDelivery = "(status = 'waiting' OR status = 'sending' OR status = 'retrying')"
}
