BBBB BBBB
 #

XX XXXXXXXXXXXX XXXXXXX
   gettext(u'A version is deleted only if neither rule keeps it. The newest version of each branch, versions with a tag and versions that a job still uses are always kept.') 
    S SSSSSSS SS SSSSSSS SSSS SS SSSSSSS SSSS SSSSS SSS SSS SSSSSS SSSSSSS SS SSSS SSSSSSS SSSSSSSS SSSS S SSS SSS
    SSSSSSSS SSSS S SSS SSSSS SSSS SSS SSSSSS SSSSS
  
XXXX
XXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXX
  XXXXXXXX XXXXXXX pgettext(u'field, of versions', u'Keep the newest') XX
    XXXXX XXXXXXXXXX XXXXXXX
      XXXXXX XXXXXXXXXXXXX
             XXXXXXXXXXXXXXXX
             XXXXXXX
             XXXXXXXXXXXX
             XXXXXXXXXXXXX pgettext(u'placeholder', u'no rule') X
             XXXXXXXBB BBBBBBBBBBBBBBBBBBBBXX
       pgettext(u'unit', u'versions') 
    XXXXXXX
  XXXXXXXXXX
  XXXXXXXX XXXXXXX pgettext(u'field, of days', u'Keep versions of the last') XX
    XXXXX XXXXXXXXXX XXXXXXX
      XXXXXX XXXXXXXXXXXXX
             XXXXXXXXXXXXXXXX
             XXXXXXX
             XXXXXXXXXXXX
             XXXXXXXXXXXXX pgettext(u'placeholder', u'no rule') X
             XXXXXXXBB BBBBBBBBBBBBBBBBBBBBXX
       pgettext(u'unit', u'days') 
    XXXXXXX
  XXXXXXXXXX
XXXXXX
XX XXXXXXXXXXXX XXXXXXX gettext(u'While both are empty, everything is kept.') XXXX
