// SPDX-License-Identifier: Apache-2.0
// A model as the user wrote it: plain data. Every scalar stays text with its place in the file;
// what it means is decided in mech. The structures come from field.def.
#ifndef TR_MODEL_MODEL_H
#define TR_MODEL_MODEL_H

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

// A scalar. What was not given holds the default of its row.
typedef struct Value {
    Text text;
    Place place;
    bool given;
} Value;

typedef struct Pair {
    Value key, value;
} Pair;

// Lists that grow: `at` is an array of `count`. Things that have names are found by them, in long
// lists through a table.
#define LIST_OF(Type)             \
    struct {                      \
        Type *at;                 \
        uint32_t count, capacity; \
        uint32_t *slots, mask;    \
    }

typedef LIST_OF(Value) Values;
typedef LIST_OF(Pair) Pairs;
typedef LIST_OF(char) AnyList; // the layout that all lists share

#define MEMBER_FORMULA     Value
#define MEMBER_VECTOR      Value
#define MEMBER_NUMBERS     Value
#define MEMBER_WORD        Value
#define MEMBER_CHOICE      Value
#define MEMBER_FLAG        Value
#define MEMBER_TEXT        Value
#define MEMBER_LIST        Values
#define MEMBER_PAIRS       Pairs
#define MEMBER_PARTS       Pairs // one formula alone has an empty key
#define MEMBER_PARAMETERS  Settings
#define MEMBER_INPUTS      Settings
#define MEMBER_JOINT       Joint
#define MEMBER_INERTIA     Inertia
#define MEMBER_BEAM        Beam
#define MEMBER_MODAL       Modal
#define MEMBER_BODIES      Bodies
#define MEMBER_FORCES      Forces
#define MEMBER_ROLES       Roles
#define MEMBER_CASES       Cases
#define MEMBER_ELASTIC     Elastic
#define MEMBER_JOINTS      Joints
#define MEMBER_FRAMES      NamedFrames
#define MEMBER_SHAPES      Shapes
#define MEMBER_GROUND      Ground
#define MEMBER_SURFACE     Surface
#define MEMBER_CONTACTS    Contacts
#define MEMBER_LOOPS       Loops
#define MEMBER_COUPLINGS   Couplings
#define MEMBER_CONSTRAINTS Constraints
#define MEMBER_REACTIONS   Reactions
#define MEMBER_STATES      OwnStates
#define MEMBER_CONTROLLERS Controllers
#define MEMBER_SENSORS     Sensors
#define MEMBER_COMMANDS    Commands
#define MEMBER_FIXES       Fixes
#define MEMBER_TABLES      NamedTables
#define MEMBER_SIGNALS     Signals
#define MEMBER_INCLUDES    Includes
#define MEMBER_EACH        Eaches

// Things by name
#define NAMED(Kind, Kinds)    \
    typedef struct Kind Kind; \
    typedef LIST_OF(Kind) Kinds
NAMED(Setting, Settings);
NAMED(Joint, Joints);
NAMED(Shape, Shapes);
NAMED(Body, Bodies);
NAMED(NamedFrame, NamedFrames);
NAMED(Force, Forces);
NAMED(Contact, Contacts);
NAMED(Loop, Loops);
NAMED(Coupling, Couplings);
NAMED(Constraint, Constraints);
NAMED(Role, Roles);
NAMED(OwnState, OwnStates);
NAMED(Controller, Controllers);
NAMED(Sensor, Sensors);
NAMED(Command, Commands);
NAMED(Fix, Fixes);
NAMED(Case, Cases);
NAMED(NamedTable, NamedTables);
NAMED(Include, Includes);
NAMED(Each, Eaches);
#undef NAMED

// Each begins with its own name and place; `given` is false for a kind that was not written, and
// means nothing for the model itself.
#define KIND(Kind, own)   \
    typedef struct Kind { \
        Value own;
#define FIELD(Kind, key, type, ...) MEMBER_##type key;
#define END(Kind) \
    }             \
    Kind;
#include "model/field.def"

// What a joint in `joints` is called: its coordinate is.
static inline Text tr_joint_name(const Joint *joint)
{
    return joint->coordinate.given ? joint->coordinate.text : joint->name.text;
}

// What a body's own joint is called: its coordinate is, or the body.
static inline Text tr_own_joint_name(const Body *body)
{
    return body->joint.coordinate.given ? body->joint.coordinate.text : body->name.text;
}

// A file that the model includes, and what stands in it
typedef struct Included {
    const char *path;
    Text text;
} Included;

typedef tr_model Model;

struct tr_model {
    ModelFields fields;
    Settings before; // of a variant: inputs as they were before `set` and settings
    Arena arena;
    const char *path;           // NULL when it was built by calls
    const char *place;          // the same from the root
    Text text;                  // what was read; nothing once calls have changed it
    const char *const *allowed; // folders whose files it may name, beside its own
    size_t allowed_count;
    const char **with, **with_texts; // files that were read beside it, and what stands in them
    size_t with_count;
    int order;            // 0: as the case says
    bool names_gravity;   // where it is numbers
    const char *inertias; // bodies whose inertias become parameters of their own; NULL: none
    Included *included;   // files that it was made of besides
    size_t included_count;
    const char *told_included; // of them, in one line; NULL: none
    Arena origins;             // what places in these files point to
};

// What kinds of fields there are, for the reader and the reference; scalars up to TYPE_TEXT.
typedef enum FieldType {
    TYPE_FORMULA,
    TYPE_VECTOR,
    TYPE_NUMBERS,
    TYPE_WORD,
    TYPE_CHOICE,
    TYPE_FLAG,
    TYPE_TEXT,
    TYPE_LIST,
    TYPE_PAIRS,
    TYPE_PARTS,
    TYPE_PARAMETERS,
    TYPE_INPUTS,
    TYPE_JOINT,
    TYPE_JOINTS,
    TYPE_ELASTIC,
    TYPE_FRAMES,
    TYPE_INERTIA,
    TYPE_BEAM,
    TYPE_MODAL,
    TYPE_BODIES,
    TYPE_FORCES,
    TYPE_ROLES,
    TYPE_CASES,
    TYPE_SHAPES,
    TYPE_GROUND,
    TYPE_SURFACE,
    TYPE_CONTACTS,
    TYPE_LOOPS,
    TYPE_COUPLINGS,
    TYPE_CONSTRAINTS,
    TYPE_REACTIONS,
    TYPE_STATES,
    TYPE_CONTROLLERS,
    TYPE_SENSORS,
    TYPE_COMMANDS,
    TYPE_FIXES,
    TYPE_TABLES,
    TYPE_SIGNALS,
    TYPE_INCLUDES,
    TYPE_EACH,
} FieldType;

// What names stand in a field, where its type does not tell. By their types formulas, words, lists
// and the keys of pairs speak of names of the model, and sections of it name their things.
typedef enum NamesIn {
    NAMES_BY_TYPE,
    NAMES_A_FILE, // a file, from the folder of the model file
    NAMES_NEW,    // a word, or keys, that are names of their own
    NAMES_HEADS,  // keys are heads of functions, whose arguments are local
    NAMES_OWN,    // keys are known to the thing alone
    NAMES_LOCAL,  // keys mean something in all formulas of the thing
    NAMES_HELD,   // a thing goes with the body that it names here
    NAMES_SAID,   // a section whose keys say something of what is named elsewhere
    NAMES_ALONE,  // a section that means the file it stands in alone, when another includes it
} NamesIn;

typedef struct Field {
    const char *key;
    FieldType type;
    size_t offset;    // in the structure of its kind
    const char *unit; // of a CHOICE its words
    const char *standard, *doc;
    NamesIn names;
    const char *locals; // words that mean something in this formula alone; NULL: none
    bool free;          // values of pairs are no formulas
} Field;

typedef struct Kind {
    const char *title; // "bodies", "joint", ...
    const Field *fields;
    size_t field_count, size;
    FieldType type; // of a field that holds it
    bool named;     // held by name, many of them
} Kind;

extern const Kind tr_kinds[];
extern const size_t tr_kind_count;
const Kind *tr_kind_of(FieldType type);                 // NULL for scalars and lists
const Kind *tr_kind_model(void);                        // the top of the file
const Field *tr_kind_field(const Kind *kind, Text key); // by its own name or the former one
#define TR_FORMER_NAME "on" // of `against`: a boolean to tools that read YAML 1.1
bool tr_field_is_required(const Field *field);
Suggestion tr_kind_nearest(const Kind *kind, Text key); // the field that was probably meant

// A new thing of a kind with its defaults filled in, in place.
void tr_kind_defaults(const Kind *kind, void *thing);

// Puts a scalar into the field at `at`; `key` names it in PAIRS and PARTS. A second value for the
// same place is an error, unless `again`: then it replaces the first. A LIST gets the words of the
// text, behind those it has unless `again`.
bool tr_field_put(Model *model, const Field *field, void *at, Value key, Value value, bool again,
                  tr_error *err);

// The model with the options' case applied (its first, when they name none), then their files with
// keys of a case, then their settings. The case that was chosen stands first in its list, with what
// the files say in it. Shares text with the model.
Model *tr_model_variant(const Model *model, const tr_derive_options *options, tr_error *err);

// All that a model says, of a text in memory of `model`.
bool tr_fields_parse(Model *model, const Origin *in, Text text, ModelFields *into, tr_error *err);
// Reads keys of a case into one, in memory of the model. The first line of the text has the number
// `above` + 1.
bool tr_case_parse(Model *model, const char *text, size_t length, int above, Case *into,
                   tr_error *err);
// A file of a model, of at most 16 MB; freed by the caller.
char *tr_model_text(const char *path, size_t *length, tr_error *err);

// A key of `initial` or `guess` as the pairs spell it already: d(lean) is lean_rate.
Value tr_model_spelt(const ModelFields *fields, const Pairs *pairs, Value key);

// The table of names of a list anew, once things in it have moved; size is that of a thing.
bool tr_list_index(Model *model, void *list, size_t size, tr_error *err);

// The pair of this name, or NULL; and all their names as what was perhaps meant.
Pair *tr_pairs_find(const Pairs *pairs, Text name);
void tr_pairs_offer(const Pairs *pairs, Suggestion *suggestion);

// The parameter or input of this name, or NULL; and all their names as what was perhaps meant. They
// may be a value alone.
Setting *tr_setting_find(const Settings *settings, Text name);
void tr_settings_offer(const Settings *settings, Suggestion *suggestion);
static inline bool is_setting_kind(const Kind *kind)
{
    return kind->type == TYPE_PARAMETERS || kind->type == TYPE_INPUTS;
}
// Whether units agree where a parameter or an input stands alone for a field, or minus it.
bool tr_model_check_units(const Model *model, tr_error *err);

// What a name stands for in the model, "a contact"; NULL when it stands for nothing.
const char *tr_model_what(const Model *model, Text name);
// tr_hint, after words on what the name is instead, where it stands for something else.
const char *tr_model_hint(const Model *model, const Suggestion *suggestion, char out[TR_HINT_SIZE]);

// The thing called `name` in a list of a named kind, or NULL.
void *tr_kind_find(const Kind *kind, const void *list, Text name);
// The same, made when it is not there; NULL when memory runs out.
void *tr_kind_add(Model *model, const Kind *kind, void *list, Value name, tr_error *err);

#endif
