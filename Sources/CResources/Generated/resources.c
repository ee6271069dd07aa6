// Made by `make generate` from the list in scripts/generate. Do not edit.

// The files that the program holds. SwiftPM's own resources are array literals of Swift, for which the compiler takes a second for each
// 20 kB; `#embed` takes a hundredth of it. Each text ends with a NUL.
#include "CResources.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const entrupy_sim_resource all[] = {
    {"openapi/entrupy-sim.yaml", (const unsigned char[]){
#embed "../../../openapi/entrupy-sim.yaml"
    , 0}},
    {"openapi/meet-with.txt", (const unsigned char[]){
#embed "../../../openapi/Generated/meet-with.txt"
    , 0}},
    {"docs/fidelity.md", (const unsigned char[]){
#embed "../../../docs/fidelity.md"
    , 0}},
    {"console/console.css", (const unsigned char[]){
#embed "../../../Sources/Console/Assets/console.css"
    , 0}},
    {"console/console.js", (const unsigned char[]){
#embed "../../../Sources/Console/Assets/console.js"
    , 0}},
    {"console/report.js", (const unsigned char[]){
#embed "../../../Sources/Console/Assets/report.js"
    , 0}},
    {"templates/activity.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/activity.mustache"
    , 0}},
    {"templates/audit.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/audit.mustache"
    , 0}},
    {"templates/captures.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/captures.mustache"
    , 0}},
    {"templates/changes.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/changes.mustache"
    , 0}},
    {"templates/chart.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/chart.mustache"
    , 0}},
    {"templates/check.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/check.mustache"
    , 0}},
    {"templates/components.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/components.mustache"
    , 0}},
    {"templates/coverage-file.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/coverage-file.mustache"
    , 0}},
    {"templates/coverage-map.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/coverage-map.mustache"
    , 0}},
    {"templates/coverage.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/coverage.mustache"
    , 0}},
    {"templates/deliveries.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/deliveries.mustache"
    , 0}},
    {"templates/delivery.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/delivery.mustache"
    , 0}},
    {"templates/diff.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/diff.mustache"
    , 0}},
    {"templates/difference.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/difference.mustache"
    , 0}},
    {"templates/exchange.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/exchange.mustache"
    , 0}},
    {"templates/explanation.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/explanation.mustache"
    , 0}},
    {"templates/field.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/field.mustache"
    , 0}},
    {"templates/frame.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/frame.mustache"
    , 0}},
    {"templates/item.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/item.mustache"
    , 0}},
    {"templates/items.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/items.mustache"
    , 0}},
    {"templates/matches.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/matches.mustache"
    , 0}},
    {"templates/namespace-report.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/namespace-report.mustache"
    , 0}},
    {"templates/namespaces.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/namespaces.mustache"
    , 0}},
    {"templates/problem.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/problem.mustache"
    , 0}},
    {"templates/report-delivery.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/report-delivery.mustache"
    , 0}},
    {"templates/report-due.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/report-due.mustache"
    , 0}},
    {"templates/report-event.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/report-event.mustache"
    , 0}},
    {"templates/report-failure.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/report-failure.mustache"
    , 0}},
    {"templates/report-item.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/report-item.mustache"
    , 0}},
    {"templates/report-met.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/report-met.mustache"
    , 0}},
    {"templates/report-note.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/report-note.mustache"
    , 0}},
    {"templates/report-request.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/report-request.mustache"
    , 0}},
    {"templates/report-rule.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/report-rule.mustache"
    , 0}},
    {"templates/report-session.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/report-session.mustache"
    , 0}},
    {"templates/report-user.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/report-user.mustache"
    , 0}},
    {"templates/report.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/report.mustache"
    , 0}},
    {"templates/request.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/request.mustache"
    , 0}},
    {"templates/rules.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/rules.mustache"
    , 0}},
    {"templates/scenario.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/scenario.mustache"
    , 0}},
    {"templates/scenarios.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/scenarios.mustache"
    , 0}},
    {"templates/settings.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/settings.mustache"
    , 0}},
    {"templates/standalone.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/standalone.mustache"
    , 0}},
    {"templates/sweep-file.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/sweep-file.mustache"
    , 0}},
    {"templates/timeline.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/timeline.mustache"
    , 0}},
    {"templates/user.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/user.mustache"
    , 0}},
    {"templates/users.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/users.mustache"
    , 0}},
    {"templates/webhooks.mustache", (const unsigned char[]){
#embed "../../../Sources/Console/Templates/webhooks.mustache"
    , 0}},
    {"pages/api.mustache", (const unsigned char[]){
#embed "../../../Sources/Server/Documentation/page.mustache"
    , 0}},
    {"llms.txt", (const unsigned char[]){
#embed "../../../Sources/Server/Documentation/llms.txt"
    , 0}},
    {"pages/certificate.mustache", (const unsigned char[]){
#embed "../../../Sources/Server/Certificates/certificate.mustache"
    , 0}},
    {"pages/sharable.mustache", (const unsigned char[]){
#embed "../../../Sources/Server/Certificates/sharable.mustache"
    , 0}},
    {"seed-data/standard.yaml", (const unsigned char[]){
#embed "../../../seed-data/standard.yaml"
    , 0}},
    {"seed-data/workflows.yaml", (const unsigned char[]){
#embed "../../../seed-data/workflows.yaml"
    , 0}},
    {"scenarios/burst-limit.yaml", (const unsigned char[]){
#embed "../../../seed-data/scenarios/burst-limit.yaml"
    , 0}},
    {"scenarios/capture-times-out.yaml", (const unsigned char[]){
#embed "../../../seed-data/scenarios/capture-times-out.yaml"
    , 0}},
    {"scenarios/conflicting-user-data.yaml", (const unsigned char[]){
#embed "../../../seed-data/scenarios/conflicting-user-data.yaml"
    , 0}},
    {"scenarios/cursor-under-concurrent-inserts.yaml", (const unsigned char[]){
#embed "../../../seed-data/scenarios/cursor-under-concurrent-inserts.yaml"
    , 0}},
    {"scenarios/debug-configuration.yaml", (const unsigned char[]){
#embed "../../../seed-data/scenarios/debug-configuration.yaml"
    , 0}},
    {"scenarios/each-result.yaml", (const unsigned char[]){
#embed "../../../seed-data/scenarios/each-result.yaml"
    , 0}},
    {"scenarios/expired-session.yaml", (const unsigned char[]){
#embed "../../../seed-data/scenarios/expired-session.yaml"
    , 0}},
    {"scenarios/flag-and-clear.yaml", (const unsigned char[]){
#embed "../../../seed-data/scenarios/flag-and-clear.yaml"
    , 0}},
    {"scenarios/flag-ineligible-item.yaml", (const unsigned char[]){
#embed "../../../seed-data/scenarios/flag-ineligible-item.yaml"
    , 0}},
    {"scenarios/late-result-then-disputed.yaml", (const unsigned char[]){
#embed "../../../seed-data/scenarios/late-result-then-disputed.yaml"
    , 0}},
    {"scenarios/late-result.yaml", (const unsigned char[]){
#embed "../../../seed-data/scenarios/late-result.yaml"
    , 0}},
    {"scenarios/login-limit.yaml", (const unsigned char[]){
#embed "../../../seed-data/scenarios/login-limit.yaml"
    , 0}},
    {"scenarios/revoked-session.yaml", (const unsigned char[]){
#embed "../../../seed-data/scenarios/revoked-session.yaml"
    , 0}},
    {"scenarios/same-sku-twice.yaml", (const unsigned char[]){
#embed "../../../seed-data/scenarios/same-sku-twice.yaml"
    , 0}},
    {"scenarios/server-errors-and-time-outs.yaml", (const unsigned char[]){
#embed "../../../seed-data/scenarios/server-errors-and-time-outs.yaml"
    , 0}},
    {"scenarios/signed-request-used-twice.yaml", (const unsigned char[]){
#embed "../../../seed-data/scenarios/signed-request-used-twice.yaml"
    , 0}},
    {"scenarios/submit-answer-lost.yaml", (const unsigned char[]){
#embed "../../../seed-data/scenarios/submit-answer-lost.yaml"
    , 0}},
    {"scenarios/upload-failure.yaml", (const unsigned char[]){
#embed "../../../seed-data/scenarios/upload-failure.yaml"
    , 0}},
    {"scenarios/vendor-changes-tomorrow.yaml", (const unsigned char[]){
#embed "../../../seed-data/scenarios/vendor-changes-tomorrow.yaml"
    , 0}},
    {"scenarios/webhook-receiver-down-then-up.yaml", (const unsigned char[]){
#embed "../../../seed-data/scenarios/webhook-receiver-down-then-up.yaml"
    , 0}},
    {"component-scenarios/component-blurry-picture.yaml", (const unsigned char[]){
#embed "../../../seed-data/component-scenarios/component-blurry-picture.yaml"
    , 0}},
    {"component-scenarios/component-canceled.yaml", (const unsigned char[]){
#embed "../../../seed-data/component-scenarios/component-canceled.yaml"
    , 0}},
    {"component-scenarios/component-client-rejected.yaml", (const unsigned char[]){
#embed "../../../seed-data/component-scenarios/component-client-rejected.yaml"
    , 0}},
    {"component-scenarios/component-configuration-not-supported.yaml", (const unsigned char[]){
#embed "../../../seed-data/component-scenarios/component-configuration-not-supported.yaml"
    , 0}},
    {"component-scenarios/component-document-expired.yaml", (const unsigned char[]){
#embed "../../../seed-data/component-scenarios/component-document-expired.yaml"
    , 0}},
    {"component-scenarios/component-document-type-invalid.yaml", (const unsigned char[]){
#embed "../../../seed-data/component-scenarios/component-document-type-invalid.yaml"
    , 0}},
    {"component-scenarios/component-document-type-mismatch.yaml", (const unsigned char[]){
#embed "../../../seed-data/component-scenarios/component-document-type-mismatch.yaml"
    , 0}},
    {"component-scenarios/component-document-type-not-supported.yaml", (const unsigned char[]){
#embed "../../../seed-data/component-scenarios/component-document-type-not-supported.yaml"
    , 0}},
    {"component-scenarios/component-invalid-validation-code.yaml", (const unsigned char[]){
#embed "../../../seed-data/component-scenarios/component-invalid-validation-code.yaml"
    , 0}},
    {"component-scenarios/component-invalid-workflow-status.yaml", (const unsigned char[]){
#embed "../../../seed-data/component-scenarios/component-invalid-workflow-status.yaml"
    , 0}},
    {"component-scenarios/component-issuing-country-not-supported.yaml", (const unsigned char[]){
#embed "../../../seed-data/component-scenarios/component-issuing-country-not-supported.yaml"
    , 0}},
    {"component-scenarios/component-nationality-not-supported.yaml", (const unsigned char[]){
#embed "../../../seed-data/component-scenarios/component-nationality-not-supported.yaml"
    , 0}},
    {"component-scenarios/component-no-document-detected.yaml", (const unsigned char[]){
#embed "../../../seed-data/component-scenarios/component-no-document-detected.yaml"
    , 0}},
    {"component-scenarios/component-person-not-adult.yaml", (const unsigned char[]){
#embed "../../../seed-data/component-scenarios/component-person-not-adult.yaml"
    , 0}},
    {"component-scenarios/component-session-expired.yaml", (const unsigned char[]){
#embed "../../../seed-data/component-scenarios/component-session-expired.yaml"
    , 0}},
    {"component-scenarios/component-unexpected.yaml", (const unsigned char[]){
#embed "../../../seed-data/component-scenarios/component-unexpected.yaml"
    , 0}},
    {"component-scenarios/component-verified.yaml", (const unsigned char[]){
#embed "../../../seed-data/component-scenarios/component-verified.yaml"
    , 0}},
    {0, 0},
};

const entrupy_sim_resource *entrupy_sim_resources(void) { return all; }
