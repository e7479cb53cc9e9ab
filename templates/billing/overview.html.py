BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBXX
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
   gettext(u'What GPUs were allocated, what they did, and what was wasted.') 
  XXXXXXX XXXXXXX pgettext(u'page title', u'Usage') X XXXXXXX
    XXXXXXX XXXXXXXXXXXXXXX
      BB BBB BBBBBBBB
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBB
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  BBBBBBB BBBBBBBBBBBBBBBBBBBB
  BBBBBBB BBBBBBBBBBBBBBBBBBBBBBB
  BB BBBBBBBB
     gettext(u'No GPU time in this time') 
    XXXXXXXX XXXXXXXX XXXXXXXXXXXXXXX XXXXX XXXXXXX XXXXX
       gettext(u'GPU time appears here within 20 minutes after a job with GPUs has started.') 
    XXXXXXXXXX
  BBBB
    XXXX XXXXXXXXXXXXX XXXXXXXXXXX
      XXXXXXXXX
        XXXX XXXXXXXXXXXXXX
          XXXXXXX XXXXXXX pgettext(u'name of a figure', u'Allocated') X
                  XXXXXXXFFFFFXX
            XXXXX XXXXXXXXXXXXXXXXXX
              BB BBBBBBBBBBBBBB BB BBB BBBB
                 gettext(u'GPU-hours, %(share)s of capacity') 
                  SSSSSSSSSS SSSSSSSSS SS SSSSSSSS
                
              BBBB
                 pgettext(u'text, billing', u'GPU-hours') 
              BBBBB
            XXXXXXX
          XXXXXXXXX
          XXXXXXX XXXXXXX pgettext(u'name of a figure', u'Useful') X
                  XXXXXXXFFFFFFFXX
            XXXXX XXXXXXXXXXXXXXXXXX gettext(u'of measured GPU time') XXXXXXX
          XXXXXXXXX
          XXXXXXX XXXXXXX pgettext(u'name of a figure, not working', u'Idle') X
                  XXXXXXXFFFFFFFXX
            XXXXX XXXXXXXXXXXXXXXXXX gettext(u'below 10%% for 5 minutes') XXXXXXX
          XXXXXXXXX
          XXXXXXX XXXXXXX pgettext(u'name of a figure', u'Wasted') X
                  XXXXXXXFFFFFXX
            XXXXX XXXXXXXXXXXXXXXXXX
               pgettext(u'text, billing', u'GPU-hours') 
              BB BBBBBBBBBBBX BBBBB
            XXXXXXX
          XXXXXXXXX
        XXXXXX
      XXXXXXXXXX
      BBBBBBB BBBBBBBBBBBBBBBBBBBBB
      XX XXXXXXXXXXXX XXXXXXX
         gettext(u'Recorded every ten minutes. What no agent measures is unknown, not idle.') 
         gettext(u'This page updates itself every five minutes.') 
      XXXX
    XXXXXX
  BBBBB
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBXXXXXXXXXXX
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
