#pragma once

#include <stddef.h>
#include <stdint.h>

/// The bytes of docs/openapi.yaml when this was compiled. No zero follows them.
const uint8_t *openapi_yaml(void);

/// How many bytes these are.
size_t openapi_yaml_length(void);
