BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
   gettext(u'GPUs for a team until a date: ask here, and an operator decides.') 
  XXXXXXX XXXXXXX pgettext(u'page title', u'GPU requests') X
          XXXXXXX
    XXXXXXX XXXXXXXXXXXXXXX
      BB BBBBB
        XXXXXXXXX XXXXXXXXXXXXXXXXX
                  XXXXXXX pgettext(u'field', u'Request GPUs') X XX
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    BB BBBBBBB
      BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBB
    BBBB BBB BBBB
       pgettext(u'name of a value', u'No requests yet') 
      XXXXXXXX XXXXXXXX
               XXXXXXXXXXXXXXX XXXX XXXXXXX FFFFFFFFFFFFFFFF XXXXXX XXXXXX XXXXXXX XX
         gettext(u'Say how many GPUs your team needs, of which model or MIG profile, and until when.') 
        XXXXXXX XXXXXXXXXXXXXXX
          BB BBBBB
            XXXXXXXXX XXXXXXXXXXXXXXXXX
                      XXXXXXX pgettext(u'field', u'Request GPUs') X XX
          BBBBB
        XXXXXXXXX
      XXXXXXXXXX
    BBBBB
    BB BBBB
      XXXX pgettext(u'heading', u'Past requests') XXXXX
      BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBB
    BBBBB
  XXXXXX
  BB BBBBB
    XXXXXXXXXXXXXX XXXXXXXXXXXXX
                   XXXXXXX pgettext(u'heading', u'Request GPUs') X
                   XXXXXXXX pgettext(u'button', u'Send request') XX
      XXXX XXXXXXXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Team') XX
          XXXXXXX XXXXXXXXXXX XXXXXXXXXX
            BBB B BB BBBBB
              XXXXXXX XXXXXXXX BB BBBBBB BB BBBBBBBBBBXXXXXXXXBBBBBXXXXXXXXXX
            BBBBBB
          XXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'GPU model') XX
          XXXXXXX XXXXXXXXXXXXXXX XXXXXXXXX
            BBB BBBBB BBBB BB BBBBBB
              XXXXXXX XXXXXXXX BB BBBB BB BBBBBBBBBBBBBBXXXXXXXXBBBBBX
                BB BBBB
                   pgettext(u'choice', u'%(name)s: %(n)s of %(all)s free') 
                    SSSSSSSSS SSSSS SS SSSSSSS SSSS
                  
                BBBB
                   pgettext(u'choice', u'%(name)s: none yet') 
                    SSSSSSSSS SSSS SSS
                  
                BBBBB
              XXXXXXXXX
            BBBBBB
          XXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Number of GPUs') XX
          XXXXXX XXXXXXXXXXXXX
                 XXXXXXXXXXX
                 XXXXXXX
                 XXXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Budget in GPU-hours (optional)') XX
          XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXX XXXXXXX XXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'From (optional)') X
                 XXXXXX gettext(u'Empty: as soon as approved') XX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXXXXXX
                 XXXXXX
                 XXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Until') XX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXXXX
                 XXXXXX
                 XXXXXXXX
                 XXXXXXXXX
        XXXXXXXXXX
      XXXXXX
      XXXXXXXX XXXXXXX pgettext(u'field', u'Purpose (optional)') XX
        XXXXXXXXX XXXXXXXXXXXXXX
                  XXXXXXXX
                  XXXXXXXXXXXXXXX
                  XXXXXXXXXXXXX gettext(u'What do you need them for?') XXXXXXXXXXXXX
      XXXXXXXXXX
    XXXXXXXXXXXXXXXX
  BBBBB
BBBBBBBB
