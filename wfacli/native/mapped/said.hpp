// What mappings say beside where reads lie: tags of SAM, BAM and PAF that go to records, and introns.
#pragma once

#include <string>
#include <string_view>

namespace wfacli {

struct Said {
  std::string fields;      // cm, s1, s2 and rl as SAM writes them, with tabs between them
  std::string group;       // the read group, as a field: RG:Z:run1
  char type = 0;           // tp: P, S, I or i; 0 where it is not said
  bool intron = false;     // N in cg, ~ in cs
};

// Out of fields with tabs between them.
Said said_in_text(std::string_view fields);
// Out of BAM's optional fields; what is damaged ends them.
Said said_in_bam(std::string_view fields);

}  // namespace wfacli
