// The console's files, as part of the binary, in the same way as the OpenAPI description.
#include "CConsole.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char style[] = {
#embed "console.css"
};

static const unsigned char script[] = {
#embed "console.js"
};

static const unsigned char report[] = {
#embed "report.js"
};

const unsigned char *entrupy_sim_console_style(size_t *count) {
    *count = sizeof(style);
    return style;
}

const unsigned char *entrupy_sim_console_script(size_t *count) {
    *count = sizeof(script);
    return script;
}

const unsigned char *entrupy_sim_report_script(size_t *count) {
    *count = sizeof(report);
    return report;
}
