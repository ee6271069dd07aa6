#include <stddef.h>

/// The console's style sheet.
const unsigned char *entrupy_sim_console_style(size_t *count);
/// The console's script.
const unsigned char *entrupy_sim_console_script(size_t *count);
/// The script of a report.
const unsigned char *entrupy_sim_report_script(size_t *count);
