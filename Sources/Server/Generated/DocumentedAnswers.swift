// Made by `make generate` from the description, openapi/entrupy-sim.yaml. Do not edit.

extension DescribedAnswers {
    /// Method, path and statuses of each operation, in the order of the description.
    static let lines = """
        POST /v1/integrations/authorize-user 200 400 401 403 404 408 409 413 415 429 503
        POST /v2/integrations/authorize-user 200 400 401 403 404 408 409 413 415 429 503
        GET /v1/health 200 400 401 403 404 413 429 503
        GET /v1/authentications/{entrupy_id} 200 400 401 403 404 413 429 503
        GET /v1/lookup/authentications/{lookup_value} 200 400 401 403 404 413 429 503
        POST /v1/search/authentications 200 400 401 403 404 408 413 415 429 503
        GET /v2/authentications/{entrupy_id} 200 400 401 403 404 413 429 503
        POST /v2/authentications/{entrupy_id}/flag 200 400 401 403 404 408 409 413 415 429 503
        DELETE /v2/authentications/{entrupy_id}/flag 200 400 401 403 404 409 413 429 503
        GET /v2/lookup/authentications/{lookup_value} 200 400 401 403 404 413 429 503
        POST /v2/search/authentications 200 400 401 403 404 408 413 415 429 503
        GET /v2/authentications/{entrupy_id}/support-messages 200 401 403 404 413 429 503
        POST /v2/authentications/{entrupy_id}/support-messages 201 400 401 403 404 408 409 413 415 429 503
        GET /v2/authentications/{entrupy_id}/certificate/transfers 200 401 403 404 413 429 503
        POST /v2/authentications/{entrupy_id}/certificate/transfers 201 400 401 403 404 408 409 413 415 429 503
        POST /v2/config/authentications 200 400 401 403 404 408 413 415 429 503
        POST /v2/catalog/brands 200 400 401 403 404 408 413 415 429 503
        GET /v1/webhooks 200 400 401 403 404 413 429 503
        POST /v1/webhooks 201 400 401 403 404 408 413 415 429 503
        GET /v1/webhooks/{id} 200 400 401 403 404 413 429 503
        PATCH /v1/webhooks/{id} 200 400 401 403 404 408 413 415 429 503
        DELETE /v1/webhooks/{id} 204 400 401 403 404 413 429 503
        POST /v1/webhooks/{id}/verify 200 400 401 403 404 413 429 503
        GET /v2/webhooks 200 401 403 404 413 429 503
        POST /v2/webhooks 201 400 401 403 404 408 413 415 429 503
        GET /v2/webhooks/{id} 200 401 403 404 413 429 503
        PATCH /v2/webhooks/{id} 200 400 401 403 404 408 413 415 429 503
        DELETE /v2/webhooks/{id} 204 401 403 404 413 429 503
        POST /v2/webhooks/{id}/verify 200 401 403 404 413 429 503
        POST /sdk/login 200 400 401 403 404 408 413 415 429 503
        POST /login 200 400 401 403 404 408 413 415 429 503
        POST /sdk/logout 204 401 403 404 413 429 503
        GET /sdk/session 200 401 403 404 413 429 503
        GET /sdk/config 200 304 400 401 403 404 413 429 503
        POST /sdk/captures 201 400 401 403 404 408 409 413 415 429 503
        GET /sdk/captures 200 400 401 403 404 413 429 503
        GET /sdk/captures/{id} 200 401 403 404 413 429 503
        PUT /sdk/captures/{id}/images/{region_id} 200 400 401 403 404 408 409 410 413 415 422 429 503
        POST /sdk/captures/{id}/submit 200 400 401 403 404 409 410 413 429 503
        POST /sdk/captures/{id}/cancel 200 401 403 404 409 410 413 429 503
        GET /sdk/results/{entrupy_id} 200 401 403 404 413 429 503
        GET /sdk/results/{entrupy_id}/market-edge 200 401 403 404 409 413 429 503
        GET /sdk/results/{entrupy_id}/flag 200 401 403 404 413 429 503
        PUT /sdk/results/{entrupy_id}/flag 200 400 401 403 404 408 409 413 415 429 503
        GET /sdk/retakes 200 401 403 404 413 429 503
        POST /sdk/results/{entrupy_id}/retake 201 401 403 404 409 413 429 503
        GET /sdk/results/{entrupy_id}/support-messages 200 401 403 404 413 429 503
        POST /sdk/results/{entrupy_id}/support-messages 201 400 401 403 404 408 409 413 415 429 503
        POST /sdk/items/search 200 400 401 403 404 408 413 415 429 503
        POST /sdk/search 200 400 401 403 404 408 413 415 429 503
        GET /images/{sha256}/original 200 206 403 404 413 416 503
        GET /images/{sha256}/scale_micro 200 206 403 404 413 416 503
        GET /certificates/{certificate_id} 200 400 403 404 413 503
        POST /partner/login 200 400 401 403 404 408 413 415 503
        POST /partner/authorize-entrupy-sdk-user 200 400 401 403 404 408 409 413 415 429 503
        POST /components/v1/workflows/{workflowId}/validationcode 200 400 401 403 404 408 413 415 503
        POST /components/sessions 201 400 401 403 404 408 409 413 415 500 503
        GET /components/sessions/{id} 200 403 404 413 503 400
        DELETE /components/sessions/{id} 200 401 403 404 413 503 400
        POST /components/sessions/{id}/document 201 400 401 403 404 408 409 413 415 422 500 503
        POST /components/sessions/{id}/document/cancel 403 409 401 404 413 503 400
        POST /components/sessions/{id}/document/finish 200 400 401 403 404 409 413 422 500 503
        POST /components/sessions/{id}/biometrics 201 400 401 403 404 408 409 413 415 422 500 503
        POST /components/sessions/{id}/biometrics/cancel 403 409 401 404 413 503 400
        POST /components/sessions/{id}/biometrics/finish 200 400 401 403 404 409 413 422 500 503
        PUT /components/sessions/{id}/document/images/{side} 200 400 401 403 404 408 409 413 415 422 503
        GET /components/sessions/{id}/document/images/{side} 200 206 400 401 403 404 413 416 503
        PUT /components/sessions/{id}/document/video 200 400 401 403 404 408 409 413 415 422 503
        GET /components/sessions/{id}/document/video 200 206 400 401 403 404 413 416 503
        PUT /components/sessions/{id}/biometrics/selfie 200 400 401 403 404 408 409 413 415 422 503
        GET /components/sessions/{id}/biometrics/selfie 200 206 400 401 403 404 413 416 503
        PUT /components/sessions/{id}/biometrics/images/selfie 200 400 401 403 404 408 409 413 415 422 503
        GET /components/sessions/{id}/biometrics/images/selfie 200 206 400 401 403 404 413 416 503
        PUT /components/sessions/{id}/biometrics/liveness 200 400 401 403 404 408 409 413 415 422 503
        GET /components/sessions/{id}/biometrics/liveness 200 206 400 401 403 404 413 416 503
        GET /_sim/clock 200 400 401 403 404 413 503
        POST /_sim/clock/freeze 200 400 401 403 404 408 413 415 503
        POST /_sim/clock/advance 200 400 401 403 404 408 413 415 503
        POST /_sim/clock/resume 200 400 401 403 404 408 413 415 503
        POST /_sim/reset 200 400 401 403 404 408 413 415 503
        GET /_sim/settings 200 400 401 403 404 413 503
        PATCH /_sim/settings 200 400 401 403 404 408 413 415 503
        GET /_sim/users/{username} 200 400 401 403 404 413 503
        PATCH /_sim/users/{username} 200 400 401 403 404 408 413 415 503
        GET /_sim/authentications 200 400 401 403 404 413 503
        POST /_sim/authentications 201 400 401 403 404 408 409 413 415 503
        GET /_sim/authentications/{entrupy_id} 200 400 401 403 404 413 503
        PATCH /_sim/authentications/{entrupy_id} 200 400 401 403 404 408 413 415 503
        POST /_sim/authentications/{entrupy_id}/flag/resolve 200 400 401 403 404 408 409 413 415 503
        GET /_sim/webhook-deliveries 200 400 401 403 404 413 503
        GET /_sim/webhook-deliveries/{id} 200 400 401 403 404 413 503
        POST /_sim/webhook-deliveries/{id}/redeliver 200 400 401 403 404 409 408 413 415 503
        POST /_sim/settle 200 400 401 403 404 408 409 413 415 503
        GET /_sim/authentications/{entrupy_id}/rules 200 400 401 403 404 413 503
        GET /_sim/images/{sha256} 200 400 401 403 404 413 503
        GET /_sim/choices 200 400 401 403 404 413 503
        GET /_sim/due 200 400 401 403 404 413 503
        GET /_sim/components/sessions 200 400 401 403 404 413 503
        GET /_sim/captures 200 400 401 403 404 413 503
        GET /_sim/sessions 200 400 401 403 404 413 503
        DELETE /_sim/sessions 204 400 401 403 404 408 413 415 503
        DELETE /_sim/sessions/{id} 204 400 401 403 404 408 413 415 503
        GET /_sim/users 200 400 401 403 404 413 503
        GET /_sim/webhooks 200 400 401 403 404 413 503
        POST /_sim/webhooks 201 400 401 403 404 408 413 415 503
        PATCH /_sim/webhooks/{id} 200 400 401 403 404 408 413 415 503
        DELETE /_sim/webhooks/{id} 204 400 401 403 404 408 413 415 503
        GET /_sim/requests 200 400 401 403 404 413 503
        DELETE /_sim/requests 204 400 401 403 404 408 413 415 503
        POST /_sim/requests/verify 200 400 401 403 404 408 409 413 415 503
        GET /_sim/requests/{id} 200 400 401 403 404 413 503
        POST /_sim/requests/{id}/resend 200 400 401 403 404 408 409 413 415 503
        GET /_sim/requests/{id}/rules 200 400 401 403 404 413 503
        GET /_sim/outcomes 200 400 401 403 404 413 503
        POST /_sim/outcomes 201 400 401 403 404 408 409 413 415 503
        DELETE /_sim/outcomes 204 400 401 403 404 408 413 415 503
        DELETE /_sim/outcomes/{id} 204 400 401 403 404 408 413 415 503
        GET /_sim/events 200 400 401 403 404 413 503
        GET /_sim/event-log 200 400 401 403 404 413 503
        GET /_sim/explain/{id} 200 400 401 403 404 409 413 503
        GET /_sim/audit 200 400 401 403 404 413 503
        GET /_sim/audits 200 400 401 403 404 413 503
        GET /_sim/coverage 200 400 401 403 404 413 503
        DELETE /_sim/coverage 204 400 401 403 404 408 413 415 503
        GET /_sim/scenarios 200 400 401 403 404 413 503
        GET /_sim/scenarios/{name} 200 400 401 403 404 413 503
        PUT /_sim/scenarios/{name} 200 201 400 401 403 404 408 413 415 503
        DELETE /_sim/scenarios/{name} 204 400 401 403 404 409 408 413 415 503
        POST /_sim/scenarios/start 200 400 401 403 404 408 409 413 415 503
        POST /_sim/scenarios/{name}/start 200 400 401 403 404 408 409 413 415 503
        POST /_sim/scenarios/{name}/verify 200 400 401 403 404 409 408 413 415 503
        GET /_sim/bundle 200 400 401 403 404 413 503
        GET /_sim/snapshots 200 400 401 403 404 413 503
        PUT /_sim/snapshots/{name} 200 201 400 401 403 404 408 413 415 503
        GET /_sim/snapshots/{name} 200 400 401 403 404 413 503
        DELETE /_sim/snapshots/{name} 204 400 401 403 404 408 413 415 503
        POST /_sim/snapshots/{name}/restore 200 400 401 403 404 409 408 413 415 503
        POST /_sim/snapshots/{name}/fork 201 400 401 403 404 408 409 413 415 503
        GET /_sim/diff 200 400 401 403 404 409 413 503
        GET /_sim/stats 200 400 401 403 404 413 503
        POST /_sim/seed 200 400 401 403 404 408 409 413 415 503
        GET /_sim/export 200 400 401 403 404 413 503
        GET /_sim/faults 200 400 401 403 404 413 503
        POST /_sim/faults 201 400 401 403 404 408 409 413 415 503
        DELETE /_sim/faults 204 400 401 403 404 408 413 415 503
        DELETE /_sim/faults/{id} 204 400 401 403 404 408 413 415 503
        GET /_sim/held 200 400 401 403 404 413 503
        DELETE /_sim/held 204 400 401 403 404 408 413 415 503
        POST /_sim/held/{id}/release 200 400 401 403 404 408 409 413 415 503
        POST /_sim/webhooks/check-signature 200 400 401 403 404 408 413 415 503
        POST /_sim/webhooks/trigger 202 400 401 403 404 408 413 415 503
        POST /_sim/authentications/{entrupy_id}/certificate/transfer 200 400 401 403 404 408 409 413 415 503
        POST /_sim/authentications/{entrupy_id}/retake 200 400 401 403 404 408 409 413 415 503
        POST /_sim/authentications/{entrupy_id}/support-message 200 400 401 403 404 408 413 415 503
        GET /_sim/health 200 400 403 404
        GET /_sim/authority.pem 200 400 403 404
        GET /_sim/ready 200 400 403 404 503
        GET /_sim/ping 200 403 503
        GET /_sim/info 200 400 401 403 404 413 503
        GET /_sim/metrics 200 400 401 403 404 503
        GET /_sim/namespaces 200 400 401 403 404 413 503
        POST /_sim/namespaces 201 400 401 403 404 408 413 415 503
        DELETE /_sim/namespaces 204 400 401 403 404 408 413 415 503
        PUT /_sim/namespaces/{name} 201 400 401 403 404 408 409 413 415 503
        DELETE /_sim/namespaces/{name} 204 400 401 403 404 409 408 413 415 503
        GET /openapi.yaml 200 400 403 404 413 503
        GET /openapi.json 200 400 403 404 413 503
        GET /_sim/llms.txt 200 400 401 403 404 413 503
        GET /_sim/fidelity.md 200 400 401 403 404 413 503
        GET /_sim/docs 200 303 400 401 403 404 413 503
        GET / 303 403
        GET /_sim/console 200 303 400 401 403 404 409 413 503
        GET /_sim/console/{section} 200 303 400 401 403 404 409 413 503
        GET /_sim/console/{section}/{name} 200 303 400 401 403 404 409 413 503
        GET /_sim/console/{section}/{name}/{id} 200 303 400 401 403 404 409 413 503
        GET /_sim/console/news 200 400 401 403 404 413 503
        GET /_sim/console/assets/{name} 200 400 401 403 404 413 503
        POST /_sim/console/token 303 400 401 403 404 408 413 415 503
        """
}
