#include "openapi.h"

// Swift has nothing like #embed. SwiftPM's own `.embedInCode` makes an array literal of the bytes, which takes the
// compiler more than a minute for a page of this length.
static const uint8_t page[] = {
#embed "../../docs/openapi.yaml"
};

const uint8_t *openapi_yaml(void) { return page; }

size_t openapi_yaml_length(void) { return sizeof page; }
